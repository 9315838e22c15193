"""Serves the function's own answer to GET /.well-known/jwks.json on loopback, a process of it for each request.

/fetches tells how often the set was asked for. Prints its port; stops when its standard input ends.
"""

import http.server
import json
import subprocess
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    fetches = 0

    def do_GET(self):
        if self.path == "/fetches":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(str(Handler.fetches).encode())
            return
        Handler.fetches += 1
        event = json.dumps({"method": "GET", "path": self.path})
        ran = subprocess.run(sys.argv[1:], input=event.encode(), capture_output=True)
        answer = json.loads(ran.stdout)
        self.send_response(answer["statusCode"])
        for name, value in answer["headers"].items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer["body"].encode())

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
