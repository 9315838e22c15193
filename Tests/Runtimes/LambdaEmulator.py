"""AWS's Runtime Interface Emulator, and SAM's own API Gateway (REST, HTTP 1.0, HTTP 2.0) in front of it, on loopback.

    LambdaEmulator.py BOOTSTRAP LOG

Runs in the environment that Tests/tools.sh makes (aws-sam-cli, pinned: its gateway is an internal interface). Prints one line
of JSON with the ports once all answer, and ends at a line of standard input or its end, taking the emulator along.
"""

import json
import os
import platform
import socket
import subprocess
import sys
import threading
import time
import urllib.request

os.environ["SAM_CLI_TELEMETRY"] = "0"

import samcli  # noqa: E402
from samcli.lib.providers.provider import Api  # noqa: E402
from samcli.local.apigw.local_apigw_service import LocalApigwService  # noqa: E402
from samcli.local.apigw.route import Route  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
GATEWAYS = {"rest": (Route.API, None), "http1": (Route.HTTP, "1.0"), "http2": (Route.HTTP, "2.0")}


class Emulator:
    """One box. Two invocations at once end the emulator, so they wait for each other."""

    def __init__(self, bootstrap, log):
        self.port, api_port = free_port(), free_port()
        machine = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
        program = os.path.join(os.path.dirname(samcli.__file__), "local", "rapid", f"aws-lambda-rie-{machine}")
        # Without both addresses it would listen on every interface.
        self.process = subprocess.Popen(
            [program, "--runtime-interface-emulator-address", f"127.0.0.1:{self.port}",
             "--runtime-api-address", f"127.0.0.1:{api_port}", bootstrap],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "AWS_LAMBDA_FUNCTION_TIMEOUT": "10"})
        self.lock = threading.Lock()
        wait_for(self.port)

    def invoke_event(self, event):
        url = f"http://127.0.0.1:{self.port}/2015-03-31/functions/function/invocations"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with self.lock, opener.open(urllib.request.Request(url, data=event.encode(), method="POST"), timeout=20) as answer:
            return answer.read().decode()

    # What SAM's gateway asks of what runs a function.
    def is_debugging(self):
        return False

    def invoke(self, name, event, stdout=None, stderr=None, **_):
        stdout.write_str(self.invoke_event(event))


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


def gateway(emulator, kind, version):
    api = Api(routes=[Route("auth", "/{proxy+}", METHODS, event_type=kind, payload_format_version=version)])
    api.stage_name, api.stage_variables, api.binary_media_types_set = "Prod", {}, set()
    service = LocalApigwService(api, emulator, port=0, host="127.0.0.1", stderr=None)
    service.create()
    server = make_server("127.0.0.1", 0, service._app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the emulator does not answer")


bootstrap, log_path = sys.argv[1:]
with open(log_path, "ab") as log:
    emulator = Emulator(bootstrap, log)
    try:
        ports = {name: gateway(emulator, *kind) for name, kind in GATEWAYS.items()}
        print(json.dumps({"invoke": emulator.port, **ports}), flush=True)
        sys.stdin.readline()
    finally:
        emulator.process.terminate()
        try:
            emulator.process.wait(5)
        except subprocess.TimeoutExpired:
            emulator.process.kill()
            emulator.process.wait()
