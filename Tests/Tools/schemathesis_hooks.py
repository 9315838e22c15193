"""Who schemathesis is: an access token for each operation, from the JSON file that OPENAPI_TOKENS names.

The tokens were issued before the run. An operation that ends sessions gets an account of its own, so that it does not
turn every later answer into a 401.
"""

import json
import os
from urllib.parse import unquote

import schemathesis
from schemathesis.core import NOT_SET

with open(os.environ["OPENAPI_TOKENS"]) as file:
    TOKENS = json.load(file)


@schemathesis.auth(refresh_interval=None)
class AccessToken:
    def get(self, case, context):
        return TOKENS.get(case.operation.definition.raw.get("operationId"), TOKENS["account"])

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


def texts(value):
    """All that is text in a value, however deep."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, (list, tuple)):
        return [text for part in value for text in texts(part)]
    return [str(value)]


@schemathesis.hook
def filter_case(context, case):
    """What lighttpd does by itself, before the function: it refuses control characters in a path or query in its own
    words, and passes over a header without a value."""
    path = unquote(str((case.path_parameters or {}).get("id", "")))
    query = "".join(texts(case.query or {}))
    headers = case.headers or {}
    return path.isprintable() and query.isprintable() and str(headers.get("Idempotency-Key", "key")).strip() != ""


@schemathesis.hook
def before_call(context, case, kwargs):
    """And it refuses a GET with a body."""
    if case.method == "GET":
        case.body = NOT_SET
