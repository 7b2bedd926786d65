"""The shortener over HTTP: a real server on a free port of this machine."""

import http.client
import json
import threading
import unittest
from wsgiref.simple_server import WSGIRequestHandler, make_server

from webapp.app import Shortener


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *args):
        pass


class ShortenerTest(unittest.TestCase):
    def setUp(self):
        self.server = make_server("127.0.0.1", 0, Shortener(), handler_class=QuietHandler)
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=30)
        self.addCleanup(connection.close)
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()

    def create(self, **wish):
        status, _, text = self.request("POST", "/links", json.dumps(wish))
        return status, json.loads(text)

    def test_a_new_link_gets_the_first_slug(self):
        expected = {"slug": "223", "url": "https://example.org/a", "hits": 0}
        self.assertEqual(self.create(url="https://example.org/a"), (201, expected))

    def test_the_same_address_gets_the_same_slug(self):
        self.assertEqual(self.create(url="https://example.org/a"), self.create(url="https://example.org/a"))

    def test_other_addresses_get_other_slugs(self):
        made = [self.create(url=f"https://example.org/{n}")[1]["slug"] for n in range(40)]
        self.assertEqual(len(set(made)), 40)

    def test_a_slug_can_be_chosen(self):
        self.assertEqual(self.create(url="https://example.org/a", slug="my-page")[1]["slug"], "my-page")

    def test_a_chosen_slug_is_not_given_away_twice(self):
        self.create(url="https://example.org/a", slug="my-page")
        answer = self.create(url="https://example.org/b", slug="my-page")
        self.assertEqual(answer, (409, {"error": "slug my-page leads elsewhere"}))

    def test_a_reserved_slug_is_refused(self):
        self.assertEqual(self.create(url="https://example.org/a", slug="links")[0], 400)

    def test_an_address_without_a_scheme_is_refused(self):
        expected = (400, {"error": "url must begin with http:// or https://"})
        self.assertEqual(self.create(url="javascript:alert(1)"), expected)

    def test_a_body_that_is_no_json_is_refused(self):
        self.assertEqual(self.request("POST", "/links", "url=x")[0], 400)

    def test_a_short_link_redirects(self):
        self.create(url="https://example.org/a", slug="a1")
        status, headers, _ = self.request("GET", "/a1")
        self.assertEqual((status, headers["Location"]), (302, "https://example.org/a"))

    def test_visits_are_counted(self):
        self.create(url="https://example.org/a", slug="a1")
        self.request("GET", "/a1")
        self.request("GET", "/a1")
        self.assertEqual(json.loads(self.request("GET", "/links/a1")[2])["hits"], 2)

    def test_an_unknown_slug_is_not_found(self):
        self.assertEqual(self.request("GET", "/nothing")[0], 404)

    def test_the_page_shows_addresses_as_text(self):
        self.create(url="https://example.org/<b>", slug="a1")
        page = self.request("GET", "/")[2]
        self.assertIn("<li>/a1: https://example.org/&lt;b&gt;</li>", page)


if __name__ == "__main__":
    unittest.main()
