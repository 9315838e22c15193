"""An HTTPS server on loopback that behaves as it is told: a line of JSON on standard input each time, a line back.

It ends with its standard input, so it cannot outlive the test that started it.
"""

import base64
import json
import socket
import socketserver
import ssl
import sys
import threading
import time
import warnings

# TLS 1.1 is deprecated: that is what it is offered for.
warnings.simplefilter("ignore", DeprecationWarning)
folder = sys.argv[1]
lock = threading.Lock()
answer = {}
released = threading.Event()
requests = []
connections = 0


def context(certificate, version=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if version:
        made.set_ciphers("DEFAULT@SECLEVEL=0")
        made.minimum_version = version
        made.maximum_version = version
    made.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
    return made


contexts = {
    "good": context("server"),
    "tls1.2": context("server", ssl.TLSVersion.TLSv1_2),
    "tls1.1": context("server", ssl.TLSVersion.TLSv1_1),
    "wrong-host": context("other-host"),
    "untrusted": context("untrusted"),
    "expired": context("expired"),
}


class Exchange(socketserver.BaseRequestHandler):
    """One connection: requests until the client closes, by hand, because the point is to answer wrongly at will."""

    def handle(self):
        global connections
        with lock:
            connections += 1
            connection = connections
            tls = answer["tls"]
        self.request.settimeout(20)
        # Else a body that follows its head waits 40 ms for the client's acknowledgement.
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = self.request
        try:
            if self.server.is_tls:
                stream = contexts[tls].wrap_socket(self.request, server_side=True)
            reader = stream.makefile("rb")
            while self.exchange(reader, stream, connection):
                pass
        except (OSError, ValueError):
            pass

    def exchange(self, reader, stream, connection):
        first = reader.readline(65536).decode("latin-1").split()
        if len(first) != 3:
            return False
        headers = {}
        while (line := reader.readline(65536).decode("latin-1").rstrip("\r\n")) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        with lock:
            told = dict(answer)
            requests.append(
                {
                    "method": first[0], "path": first[1], "headers": headers, "connection": connection,
                    "body": base64.b64encode(body).decode(),
                }
            )
        time.sleep(told["delay"])
        if told["held"]:
            released.wait(300)
        if told["silent"]:
            time.sleep(15)
            return False
        status, content = told["status"], base64.b64decode(told["body"])
        fields = list(told["headers"])
        if "etag" in told:
            fields.append(["ETag", told["etag"]])
            if headers.get("if-none-match") == told["etag"]:
                status, content = 304, b""
        lines = [f"HTTP/1.1 {status} Said"] + [f"{name}: {value}" for name, value in fields]
        if status != 304:
            lines.append(f"Content-Length: {len(content)}")
        stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        if told["trickle"]:
            for byte in content:
                stream.sendall(bytes([byte]))
                time.sleep(told["trickle"])
        else:
            stream.sendall(content[: len(content) // 2] if told["truncated"] else content)
        return not told["truncated"]


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256
    is_tls = True

    def handle_error(self, request, client_address):
        pass


def listen(port, is_tls):
    server = Server(("127.0.0.1", port), Exchange)
    server.is_tls = is_tls
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


answer = json.loads(sys.stdin.readline())
secure = listen(0, True)
plain = listen(0, False)
port = secure.server_address[1]
say({"port": port, "plain_port": plain.server_address[1]})
for line in sys.stdin:
    told = json.loads(line)
    with lock:
        if "answer" in told:
            answer = told["answer"]
            say({})
            continue
        if "requests" in told:
            say({"requests": requests, "connections": connections})
            continue
        if "release" in told:
            released.set()
            say({})
            continue
    # Without a listener the port refuses, and the address stays the same.
    if told["listen"] and secure is None:
        secure = listen(port, True)
    elif not told["listen"] and secure is not None:
        secure.shutdown()
        secure.server_close()
        secure = None
    say({})
