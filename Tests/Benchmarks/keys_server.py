"""An HTTPS server on loopback that gives out the key set of a folder, and counts connections and requests."""

import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class KeysServer:
    """`with KeysServer(folder) as server`: reads apple-keys.json, and makes certificate.pem there, which clients trust."""

    def __init__(self, folder):
        keys = (folder / "apple-keys.json").read_bytes()
        certificate, key = folder / "certificate.pem", folder / "certificate-key.pem"
        subprocess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out",
            str(certificate)], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        outer = self
        self.requests = self.connections = 0

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                outer.connections += 1
                self.request = context.wrap_socket(self.request, server_side=True)
                super().setup()

            def do_GET(self):
                outer.requests += 1
                self.send_response(200)
                for name, value in (
                        ("Content-Type", "application/json"), ("Cache-Control", "max-age=3600"),
                        ("Content-Length", str(len(keys)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(keys)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.server.daemon_threads = True
        self.url = f"https://localhost:{self.server.server_port}/auth/keys"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
