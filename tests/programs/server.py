"""A small server as a project's development server is one: it prints, serves, and never ends by itself.

    server.py FILE      FILE is made when it listens
"""

import http.server
import sys

server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(f"listening on {server.server_port}", flush=True)
open(sys.argv[1], "w").close()
server.serve_forever()
