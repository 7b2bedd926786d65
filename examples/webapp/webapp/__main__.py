"""Serve the shortener on this machine: ``python3 -m webapp [PORT]``."""

import sys
from contextlib import suppress
from wsgiref.simple_server import make_server

from webapp.app import Shortener

port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
with make_server("127.0.0.1", port, Shortener()) as server:
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()
