"""The web application: WSGI in, JSON, a redirect or one page out."""

import html
import json
from http import HTTPStatus

from webapp.links import Links, Refused, Taken

MAX_BODY = 10_000
"""Bytes of a request; a link is far shorter."""


class Shortener:
    """``POST /links`` makes a short link, ``GET /links/SLUG`` describes it, ``GET /SLUG`` follows it."""

    def __init__(self):
        self.links = Links()

    def __call__(self, environ, start_response):
        status, headers, text = self._answer(environ)
        body = text.encode()
        headers["Content-Length"] = str(len(body))
        start_response(f"{status.value} {status.phrase}", list(headers.items()))
        return [body]

    def _answer(self, environ):
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/")
        if path == "/links" and method == "POST":
            return self._create(environ)
        if method != "GET":
            return _problem(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not allowed here")
        if path == "/":
            return self._page()
        if path.startswith("/links/"):
            return self._describe(path.removeprefix("/links/"))
        return self._follow(path.removeprefix("/"))

    def _create(self, environ):
        try:
            wish = json.loads(_body(environ))
            link = self.links.add(wish["url"], wish.get("slug"))
        except Taken as error:
            return _problem(HTTPStatus.CONFLICT, str(error))
        except Refused as error:
            return _problem(HTTPStatus.BAD_REQUEST, str(error))
        except (ValueError, TypeError, KeyError):
            return _problem(HTTPStatus.BAD_REQUEST, 'send {"url": "https://..."}')
        return _json(HTTPStatus.CREATED, _public(link))

    def _describe(self, slug):
        link = self.links.find(slug)
        if link is None:
            return _problem(HTTPStatus.NOT_FOUND, f"no link {slug}")
        return _json(HTTPStatus.OK, _public(link))

    def _follow(self, slug):
        link = self.links.find(slug)
        if link is None:
            return _problem(HTTPStatus.NOT_FOUND, f"no link {slug}")
        link.hits += 1
        return HTTPStatus.FOUND, {"Location": link.url}, ""

    def _page(self):
        rows = "".join(f"<li>/{link.slug}: {html.escape(link.url)}</li>" for link in self.links)
        page = f"<!doctype html><title>Links</title><ul>{rows}</ul>"
        return HTTPStatus.OK, {"Content-Type": "text/html; charset=utf-8"}, page


def _body(environ):
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if not 0 <= length <= MAX_BODY:
        raise ValueError(f"a body of {length} bytes")
    return environ["wsgi.input"].read(length)


def _public(link):
    return {"slug": link.slug, "url": link.url, "hits": link.hits}


def _problem(status, text):
    return _json(status, {"error": text})


def _json(status, value):
    return status, {"Content-Type": "application/json"}, json.dumps(value)
