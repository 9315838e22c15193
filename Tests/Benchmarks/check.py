"""Whether every peer does the work of auth-apple: `check.py FOLDER PEERS [NAME]...`. A program that is wrong is not fast.

Each program is given the same sign-ins and forgeries, one process each and then as a loop. Its answers and the rows that it
leaves have to be auth-apple's, apart from what is random or the time; its access tokens verify, auth-apple takes its
refresh tokens, and its log holds nothing of the person.
"""

import json
import sqlite3
import sys

import jwt

from workbench import SIMULATOR, Workbench

BAD = [
    "bad-signature", "altered-payload", "strange-key", "other-key", "unknown-kid", "alg-none", "hs256-public-key", "es256",
    "embedded-jwk", "expired", "no-exp", "not-yet-valid", "too-old", "wrong-audience", "wrong-issuer", "no-subject",
    "nonce-mismatch"]


def sign_ins(bench):
    first = bench.token("001.check.1", email="ana@example.com")
    # The device tells the sessions apart.
    def device(number):
        return {"platform": "iOS", "name": "Ana's \"phone\" ñ", "numbers": [number, 2.5, None, True]}

    return [
        bench.event(first, deviceInfo=device(1)), bench.event(first, deviceInfo=device(2)),
        # Apple has another address now, and the name stays as it was.
        bench.event(bench.token("001.check.1", "--relay"), full_name="Somebody Else", deviceInfo=device(3)),
        # Neither address nor nonce nor name from Apple, and what the client says instead.
        bench.event(
            bench.output(SIMULATOR, "token", "--subject", "001.check.2").strip(), nonce=None, email="b@example.org",
            deviceInfo=device(4), full_name={"givenName": "José", "familyName": "\"Pepe\" Ruiz"}),
        bench.event(bench.token("001.check.2"), email="c@example.org", deviceInfo=device(5))]


def forgeries(bench):
    good = bench.token("001.check.3")
    return [bench.event(bench.token("001.check.3", "--bad", kind)) for kind in BAD] + [
        bench.event(good, nonce="another"), bench.event(good, identity_token="dots...")]


def rows(store):
    """What the tables hold, with the random replaced by its kind and times by their distance."""
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    tables = {name: [dict(row) for row in database.execute(f"SELECT * FROM {name}")]
              for name in ("accounts", "sessions", "audit", "receipts", "marks", "apple_grants", "attempts")}
    database.close()
    numbers = {}
    for account in sorted(tables["accounts"], key=lambda row: row["apple_sub"]):
        numbers[account["id"]] = f"account {account['apple_sub']}"
        account["updated_at"] = account["updated_at"] > account["created_at"]
    for number, session in enumerate(sorted(tables["sessions"], key=lambda row: row["device_info"])):
        numbers[session["id"]] = f"session {number}"
        session["device_info"] = json.loads(session["device_info"])
        for name in ("refresh_expires_at", "ends_at", "expires_at", "last_used_at"):
            session[name] -= session["created_at"]
        for name in ("salt", "refresh_digest"):
            session[name] = len(session[name])
    for entry in tables["audit"]:
        entry["request_id"] = len(entry["request_id"]) > 15
        entry["time"] = entry["time"] > 1_700_000_000_000
    for row in [row for table in tables.values() for row in table]:
        row.pop("created_at", None)
        for name, value in row.items():
            if isinstance(value, bytes):
                version, variant = value[6] >> 4, value[8] >> 6
                row[name] = f"{numbers[value]}, UUID version {version}, variant {variant}"
    return {name: sorted(table, key=repr) for name, table in tables.items()}


def read(answer, key):
    """An answer without what is random, after its tokens were judged."""
    body = json.loads(answer["body"])
    kind = answer["headers"]["content-type"]
    status = answer["statusCode"]
    if status >= 400:
        assert kind == "application/problem+json" and body["title"]
        return {"status": status}
    access = body.pop("access_token")
    claims = jwt.decode(
        access, key.key, algorithms=["ES256"], issuer="https://auth.example.com", audience="https://api.example.com")
    header = jwt.get_unverified_header(access)
    assert header == {"alg": "ES256", "kid": key.key_id, "typ": "at+jwt"}, header
    assert claims.pop("sub") == body["user"].pop("id") and claims.pop("sid") == body["session"].pop("id")
    assert claims["exp"] - claims.pop("iat") == 900 and claims.pop("exp") and len(claims.pop("jti")) == 36
    assert len(body.pop("refresh_token")) == 86
    return {"status": status, "kind": kind, "caching": answer["headers"]["cache-control"], "claims": claims, "body": body}


def refresh(bench, store, answer):
    """The status of auth-apple for the refresh token of an answer."""
    token = json.loads(answer["body"])["refresh_token"]
    text = json.dumps({
        "method": "POST", "path": "/auth/refresh", "headers": {"content-type": "application/json"},
        "body": json.dumps({"refresh_token": token})})
    return bench.run("auth-apple", store, [text])[0][0]["statusCode"]


def judge(bench, name, lines, folder, good, bad, key):
    """Everything that is compared with auth-apple's."""
    store = bench.new_store(bench.folder / "check" / folder)
    answers, log = bench.run(name, store, good, lines)
    result = [read(answer, key) for answer in answers]
    before = rows(store)
    refused, more = bench.run(name, store, bad, lines)
    assert all(answer["statusCode"] == 401 for answer in refused), [answer["statusCode"] for answer in refused]
    assert rows(store) == before, "a forgery left a row"
    entries = [json.loads(line) for line in (log + more).splitlines()]
    assert len(entries) == len(good) + len(bad)
    assert [entry["status"] for entry in entries] == [a["statusCode"] for a in answers + refused]
    assert not any(text in log + more for text in ("eyJhbG", "@example", "García", "001.check", "benchmark")), "the log tells"
    assert refresh(bench, store, answers[0]) == 200, "auth-apple refuses the refresh token"
    return {"answers": result, "rows": before}


def main():
    folder, peers, *names = sys.argv[1:]
    bench = Workbench(folder, peers)
    keys = json.loads((bench.folder / "signing-keys.json").read_text())["keys"]
    key = jwt.PyJWK({name: value for name, value in keys[0].items() if name != "d"})
    good, bad = sign_ins(bench), forgeries(bench)
    expected = judge(bench, "auth-apple", False, "reference", good, bad, key)
    assert [answer["status"] for answer in expected["answers"]] == [201, 200, 200, 201, 200]
    for name in names or bench.commands:
        for lines in (False, True):
            try:
                found = judge(bench, name, lines, name + "-lines" * lines, good, bad, key)
                assert found == expected, difference(expected, found)
            except AssertionError as error:
                raise SystemExit(f"{name} {'lines' if lines else ''}: {error}") from error
        print(f"  {name}: {len(good)} sign-ins and {len(bad)} forgeries as auth-apple answers and keeps them", flush=True)


def difference(expected, found):
    left, right = (json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False).splitlines() for each in (expected, found))
    return "\n".join(f"auth-apple {a.strip()}   here {b.strip()}" for a, b in zip(left, right) if a != b)[:2000]


if __name__ == "__main__":
    main()
