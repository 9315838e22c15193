"""Who schemathesis is: what a link brought, else an access token for each operation, from the JSON file that OPENAPI_TOKENS
names.

Those tokens were issued before the run. An operation that ends sessions gets an account of its own, so that it does not
turn every later answer into a 401. What became of sessions is written to the file that OPENAPI_TALLY names.
"""

import atexit
import json
import os
from urllib.parse import unquote

import schemathesis
from schemathesis.core import NOT_SET

from schemathesis_sessions import Sessions

with open(os.environ["OPENAPI_TOKENS"]) as file:
    TOKENS = json.load(file)
SESSIONS = Sessions(TOKENS.values())
SERVER = os.environ["OPENAPI_SERVER"]


@atexit.register
def write_tally():
    with open(os.environ["OPENAPI_TALLY"], "w") as file:
        json.dump(SESSIONS.tally, file)


@schemathesis.auth(refresh_interval=None)
class AccessToken:
    def get(self, case, context):
        # What a link brought is a token that was issued; whatever else is there was made up.
        if (brought := SESSIONS.token_of(case.headers or {})) in SESSIONS.by_access_token:
            return brought
        if token := SESSIONS.owner_token(str((case.path_parameters or {}).get("id"))):
            return token
        return SESSIONS.living_token(TOKENS.get(case.operation.definition.raw.get("operationId"), TOKENS["account"]))

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.check
def sessions_are_over_when_they_end(context, response, case):
    try:
        answer = response.json()
    except ValueError:
        answer = None
    fault = SESSIONS.learn(response.request, response.status_code, answer)
    assert fault is None, fault


def texts(value):
    """All that is text in a value, however deep."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, (list, tuple)):
        return [text for part in value for text in texts(part)]
    return [str(value)]


@schemathesis.hook
def filter_case(context, case):
    """What web servers do by themselves, before the function: they refuse control characters in a path or query in their
    own words, and pass over a header without a value; nginx knows no TRACE."""
    if SERVER == "nginx" and case.method == "TRACE":
        return False
    path = unquote(str((case.path_parameters or {}).get("id", "")))
    query = "".join(texts(case.query or {}))
    headers = case.headers or {}
    return path.isprintable() and query.isprintable() and str(headers.get("Idempotency-Key", "key")).strip() != ""


@schemathesis.hook
def before_call(context, case, kwargs):
    """And lighttpd refuses a GET with a body."""
    if case.method == "GET":
        case.body = NOT_SET
