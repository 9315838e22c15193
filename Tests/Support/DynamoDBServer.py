"""DynamoDB on loopback, for tests: moto behind a door that is stricter than moto's own, and that fails when it is told to.

A line of JSON on standard input each time, a line back; it ends with its standard input. What the door adds to moto:

- every signature is verified with botocore's SigV4, over the bytes that came, and all that AWS wants signed must be;
- requests are carried out one at a time, as moto's transactions are not isolated from each other;
- a ClientRequestToken that was used is answered as before, and nothing is done (moto overlooks it);
- faults: a refusal, a delay, a connection that ends before or after the request was carried out.

It plays the container's and the instance's endpoint for credentials as well.
"""

import base64
import copy
import datetime
import hmac
import http.server
import json
import logging
import os
import sys
import threading
import time

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core.serialize import JSONSerializer
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.test import EnvironBuilder, run_wsgi_app

logging.disable(logging.CRITICAL)
lock = threading.Lock()
# By access key: the secret, the session token that goes with it, and whether it has expired.
keys = {"AKIDEXAMPLE": {"secret": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "token": None, "expired": False}}
faults = []
actions = set()
log = []
answered = {}
endpoint = {"headers": {}, "body": {}}
app = create_backend_app("dynamodb")


def signature(method, headers, body, authorization):
    """What the signature should be, and the names of the headers that are signed."""
    fields = dict(part.strip().split("=", 1) for part in authorization.split(" ", 1)[1].split(","))
    key, date, region, service, _ = fields["Credential"].split("/")
    signed = fields["SignedHeaders"].split(";")
    request = AWSRequest(method=method, url=f"https://{headers['host']}/", data=body)
    for name in signed:
        if name in headers:
            request.headers[name] = headers[name]
    request.context["timestamp"] = headers["x-amz-date"]
    auth = SigV4Auth(Credentials(key, keys[key]["secret"]), service, region)
    wanted = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return wanted, signed, fields["Signature"], key, (date, region, service)


def refusal(method, headers, body):
    """Why AWS would not believe the request; nil when it would."""
    authorization = headers.get("authorization", "")
    if not authorization.startswith("AWS4-HMAC-SHA256 "):
        return "MissingAuthenticationTokenException"
    if authorization.split("=", 1)[1].split("/")[0] not in keys:
        return "UnrecognizedClientException"
    wanted, signed, given, key, scope = signature(method, headers, body, authorization)
    must = {"host", "content-type"} | {name for name in headers if name.startswith("x-amz-")}
    at = datetime.datetime.strptime(headers["x-amz-date"] + "+0000", "%Y%m%dT%H%M%SZ%z")
    age = abs(time.time() - at.timestamp())
    if (
        not must <= set(signed) or not set(signed) <= set(headers) or signed != sorted(signed) or age > 300
        or scope != (headers["x-amz-date"][:8], "eu-west-1", "dynamodb") or not hmac.compare_digest(wanted, given)
    ):
        return "InvalidSignatureException"
    if headers.get("x-amz-security-token") != keys[key]["token"]:
        return "UnrecognizedClientException"
    return "ExpiredTokenException" if keys[key]["expired"] else None


def moto(headers, body):
    builder = EnvironBuilder("/", base_url="http://dynamodb.eu-west-1.amazonaws.com", method="POST", data=body,
                             headers=[(name, value) for name, value in headers.items() if name != "host"])
    chunks, status, fields = run_wsgi_app(app, builder.get_environ())
    return int(status.split()[0]), b"".join(chunks)


# moto copies the whole table before each transaction, in case it has to go back. Only what is written can change.
whole = DynamoDBBackend.transact_write_items
Table.__deepcopy__ = lambda table, memo: table


def transact_write_items(backend, items):
    places = []
    for operation in items:
        (name, of), = operation.items()
        key = of["Item"] if name == "Put" else of["Key"]
        rows = backend.tables[of["TableName"]].items
        places.append((rows, DynamoType(key["pk"]), DynamoType(key["sk"])))
    before = [copy.deepcopy(rows.get(one, {}).get(two)) for rows, one, two in places]
    try:
        return whole(backend, items)
    except Exception:
        for (rows, one, two), item in zip(places, before):
            if item is not None:
                rows[one][two] = item
            else:
                rows.get(one, {}).pop(two, None)
        raise


DynamoDBBackend.transact_write_items = transact_write_items

# moto looks up each attribute that it gives in five ways, 2 ms an item. They are as good as JSON.
structure = JSONSerializer._serialize_type_structure


def plain(value):
    if isinstance(value, DynamoType):
        return plain(value.to_json())
    if isinstance(value, dict):
        return {name: plain(of) for name, of in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def serialize_structure(serializer, serialized, value, shape, key):
    if shape.name == "AttributeValue":
        serialized[key] = plain(value)
    else:
        structure(serializer, serialized, value, shape, key)


JSONSerializer._serialize_type_structure = serialize_structure


def note(operation, request):
    """The permissions that a request needs: those of a transaction are those of its parts."""
    if operation == "TransactWriteItems":
        for part in request["TransactItems"]:
            name = next(iter(part))
            actions.add(f"dynamodb:{name}Item")
    elif "IndexName" in request:
        actions.add(f"dynamodb:{operation}/index")
    else:
        actions.add(f"dynamodb:{operation}")


def carry_out(operation, headers, body):
    request = json.loads(body)
    note(operation, request)
    token = request.get("ClientRequestToken")
    with lock:
        if token in answered:
            same = answered[token][0] == body
            return answered[token][1] if same else (400, error("IdempotentParameterMismatchException"))
        answer = moto(headers, body)
        if token and answer[0] == 200:
            answered[token] = (body, answer)
        return answer


def error(kind, reasons=None):
    body = {"__type": "com.amazonaws.dynamodb.v20120810#" + kind, "message": "canary-message"}
    if reasons:
        body["CancellationReasons"] = [{"Code": code} for code in reasons]
    return json.dumps(body).encode()


def fault(operation):
    with lock:
        for told in faults:
            if told["times"] > 0 and told.get("on") in (None, operation):
                told["times"] -= 1
                return told
    return {"do": None}


class Door(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else a body that follows its head waits 40 ms for the client's acknowledgement.
    disable_nagle_algorithm = True
    wbufsize = -1

    def take(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        return headers, self.rfile.read(int(headers.get("content-length", 0)))

    def answer(self, status, body, kind="application/x-amz-json-1.0"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        headers, body = self.take()
        operation = headers.get("x-amz-target", ".").split(".")[1]
        told = fault(operation)
        reason = refusal("POST", headers, body)
        log.append({"operation": operation, "refusal": reason, "headers": headers, "body": body.decode()})
        if reason:
            return self.answer(400, error(reason))
        if told["do"] == "delay":
            time.sleep(told["seconds"])
        if told["do"] == "refuse":
            return self.answer(told["status"], error(told["type"], told.get("reasons")))
        if told["do"] == "say":
            return self.answer(told["status"], told["body"].encode())
        if told["do"] == "drop-before":
            return self.drop()
        status, content = carry_out(operation, headers, body)
        if told["do"] == "drop-after":
            return self.drop()
        self.answer(status, content)

    def drop(self):
        self.close_connection = True
        self.connection.close()

    def do_PUT(self):
        headers, _ = self.take()
        log.append({"operation": "PUT " + self.path, "refusal": None, "headers": headers, "body": ""})
        if self.path != "/latest/api/token" or "x-aws-ec2-metadata-token-ttl-seconds" not in headers:
            return self.answer(400, b"")
        self.answer(200, b"instance-token", "text/plain")

    def do_GET(self):
        headers, _ = self.take()
        log.append({"operation": "GET " + self.path, "refusal": None, "headers": headers, "body": ""})
        if any(headers.get(name) != value for name, value in endpoint["headers"].items()):
            return self.answer(401, b"{}")
        if self.path == "/latest/meta-data/iam/security-credentials/":
            return self.answer(200, b"role-name", "text/plain")
        if self.path in ("/latest/meta-data/iam/security-credentials/role-name", "/credentials"):
            return self.answer(200, json.dumps(endpoint["body"]).encode())
        self.answer(404, b"{}")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass


def listen(port):
    server = Server(("127.0.0.1", port), Door)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


def obey(told):
    global server
    if "create" in told:
        definition = json.dumps(told["create"]).encode()
        with lock:
            status, body = moto({"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.CreateTable"},
                                definition)
            if status == 200:
                # As the template does: aws dynamodb update-time-to-live.
                dynamodb_backends["123456789012"]["eu-west-1"].update_time_to_live(
                    told["create"]["TableName"], {"Enabled": told["expires"], "AttributeName": "ttl"})
        return {"status": status, "body": body.decode()}
    if "delete" in told:
        with lock:
            for backends in dynamodb_backends.values():
                for backend in backends.values():
                    backend.tables.pop(told["delete"], None)
        return {}
    if "items" in told:
        # What lies in the table, as text: whoever reads it sees this.
        found, request = [], {"TableName": told["items"]}
        while True:
            with lock:
                _, body = moto({"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.Scan"},
                               json.dumps(request).encode())
            page = json.loads(body)
            found += [json.dumps(item, ensure_ascii=False) for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                break
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        return {"items": found}
    if "ask" in told:
        with lock:
            status, body = moto({"content-type": "application/x-amz-json-1.0",
                                 "x-amz-target": "DynamoDB_20120810." + told["ask"]}, json.dumps(told["body"]).encode())
        return {"status": status, "body": body.decode()}
    if "faults" in told:
        with lock:
            faults[:] = told["faults"]
        return {}
    if "left" in told:
        return {"left": sum(fault["times"] for fault in faults)}
    if "keys" in told:
        keys.update(told["keys"])
        return {}
    if "endpoint" in told:
        endpoint.update(told["endpoint"])
        return {}
    if "log" in told:
        found = {"log": list(log), "actions": sorted(actions)}
        log.clear()
        actions.clear()
        return found
    if "verify" in told:
        request = told["verify"]
        return {"signature": signature(request["method"], request["headers"], request["body"].encode(),
                                       request["headers"]["authorization"])[0]}
    if told["listen"] and server is None:
        server = listen(port)
    elif not told["listen"] and server is not None:
        server.shutdown()
        server.server_close()
        server = None
    return {}


server = listen(0)
port = server.server_address[1]
print(json.dumps({"port": port}), flush=True)
for line in sys.stdin:
    print(json.dumps(obey(json.loads(line))), flush=True)
