"""One sign-in in Python, with PyJWT: the work of auth-apple's POST /auth/apple. With `lines` one event a line."""

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import sys
import time
from base64 import urlsafe_b64encode

import jwt

LEEWAY = 60
ACCESS_SECONDS = 900
REFRESH_SECONDS = 30 * 24 * 3600
SESSION_SECONDS = 365 * 24 * 3600

SELECT_ACCOUNT = """SELECT id, full_name, email, email_verified, is_private_email, contact_email, disabled_at FROM accounts
    WHERE apple_sub = ?"""
INSERT_ACCOUNT = """INSERT INTO accounts (full_name, email, email_verified, is_private_email, contact_email, updated_at, id,
    apple_sub, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE_ACCOUNT = """UPDATE accounts SET full_name = ?, email = ?, email_verified = ?, is_private_email = ?, contact_email = ?,
    updated_at = ? WHERE id = ?"""
INSERT_SESSION = """INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at,
    created_at, last_used_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_AUDIT = """INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?1,
    1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5)"""


class Refusal(Exception):
    def __init__(self, status):
        super().__init__(f"refused with {status}")
        self.status = status


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def base64url(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def uuidv7(milliseconds):
    """RFC 9562 §5.7"""
    number = milliseconds << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    return (number & ~(0x3 << 62) | 0x2 << 62).to_bytes(16, "big")


def uuid_text(data):
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def loose_bool(value):
    """Apple's Booleans come as Boolean or as string."""
    return None if value is None else value in (True, "true")


def nonce_matches(claim, nonce):
    if not isinstance(claim, str) or not isinstance(nonce, str):
        return nonce is None
    digest = hashlib.sha256(nonce.encode()).digest()
    return any(hmac.compare_digest(claim.encode(), form.encode()) for form in (nonce, digest.hex(), base64url(digest)))


def read_request(text):
    try:
        event = json.loads(text)
        if event["path"] != "/auth/apple":
            raise Refusal(404)
        if event["method"] != "POST":
            raise Refusal(405)
        if not event["headers"].get("content-type", "").startswith("application/json"):
            raise Refusal(415)
        if len(event["body"]) > 65536:
            raise Refusal(413)
        body = json.loads(event["body"])
        device = compact(body["deviceInfo"])
        if not isinstance(body["identity_token"], str) or not isinstance(body["deviceInfo"], dict) or len(device) > 4096:
            raise Refusal(400)
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(400) from error
    name = body.get("full_name")
    if isinstance(name, dict):
        name = f"{name.get('givenName', '')} {name.get('familyName', '')}".strip()
    return body["identity_token"], body.get("nonce"), name, body.get("email"), device


class Service:
    def __init__(self):
        with open(os.environ["PEER_KEY_SET"], encoding="utf-8") as file:
            self.apple = {key["kid"]: jwt.PyJWK(key) for key in json.load(file)["keys"]}
        with open(os.environ["AUTH_APPLE_SIGNING_KEYS_FILE"], encoding="utf-8") as file:
            key = next(key for key in json.load(file)["keys"] if key["state"] == "current")
        self.key_id, self.key = key["kid"], jwt.PyJWK(key).key
        self.audiences = os.environ["AUTH_APPLE_AUDIENCES"].split(",")
        self.database = None

    def store(self):
        if self.database is None:
            path = os.environ["AUTH_APPLE_STORE"].removeprefix("sqlite:")
            self.database = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=5, isolation_level="IMMEDIATE")
            for pragma in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
                self.database.execute(f"PRAGMA {pragma}")
        return self.database

    def verify(self, token, nonce):
        try:
            key = self.apple[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(
                token, key.key, algorithms=["RS256"], audience=self.audiences, issuer="https://appleid.apple.com",
                leeway=LEEWAY, options={"require": ["exp", "iat", "sub"]})
        except (jwt.PyJWTError, KeyError) as error:
            raise Refusal(401) from error
        if claims["iat"] < time.time() - 86400 - LEEWAY or not claims["sub"] or not nonce_matches(claims.get("nonce"), nonce):
            raise Refusal(401)
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        return claims, next(each for each in audience if each in self.audiences)

    def sign_in(self, claims, client_id, full_name, contact_email, device, request_id, now):
        database = self.store()
        with database:
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(SELECT_ACCOUNT, (claims["sub"],)).fetchone()
            account_id, *before, disabled_at = row or (uuidv7(now), None, None, None, None, None, None)
            if disabled_at is not None:
                raise RuntimeError("disabled")
            name, email, verified, private, contact = before
            name = name or full_name
            if "email" in claims:
                email = claims["email"]
                verified = loose_bool(claims.get("email_verified"))
                private = bool(loose_bool(claims.get("is_private_email")))
            else:
                contact = contact or contact_email
            after = [name, email, verified, private, contact]
            if row is None:
                database.execute(INSERT_ACCOUNT, (*after, now, account_id, claims["sub"], now))
            elif after != before:
                database.execute(UPDATE_ACCOUNT, (*after, now, account_id))
            session, salt, secret = uuidv7(now), secrets.token_bytes(32), secrets.token_bytes(32)
            tag = hmac.digest(salt, session + secret, "sha256")[:16]
            database.execute(INSERT_SESSION, (
                session, account_id, client_id, device, salt, hashlib.sha256(secret).digest(),
                now + REFRESH_SECONDS * 1000, now, now, now + SESSION_SECONDS * 1000))
            if row is None:
                database.execute(INSERT_AUDIT, (account_id, now, "account_created", None, request_id))
            database.execute(INSERT_AUDIT, (account_id, now, "signed_in", session, request_id))
        user = {
            "id": uuid_text(account_id), "full_name": name, "email": email,
            "email_verified": bool(verified), "is_private_email": bool(private)}
        return user, uuid_text(session), row is None, base64url(session + secret + tag)

    def access_token(self, user, client_id, session, now):
        return jwt.encode({
            "iss": os.environ["AUTH_APPLE_TOKEN_ISSUER"], "aud": os.environ["AUTH_APPLE_TOKEN_AUDIENCE"],
            "sub": user["id"], "client_id": client_id, "sid": session, "iat": now // 1000,
            "exp": now // 1000 + ACCESS_SECONDS, "jti": uuid_text(uuidv7(now)),
        }, self.key, algorithm="ES256", headers={"kid": self.key_id, "typ": "at+jwt"})

    def answer(self, text, line, now):
        token, nonce, full_name, email, device = read_request(text)
        claims, client_id = self.verify(token, nonce)
        line["sub_hash"] = base64url(hashlib.sha256(claims["sub"].encode()).digest()[:16])
        user, session, is_new, refresh = self.sign_in(
            claims, client_id, full_name, email, device, line["request_id"], now)
        line["account_created"] = is_new
        return 201 if is_new else 200, {
            "access_token": self.access_token(user, client_id, session, now), "token_type": "Bearer",
            "expires_in": ACCESS_SECONDS, "refresh_token": refresh, "refresh_expires_in": REFRESH_SECONDS,
            "is_new": is_new, "user": user, "session": {"id": session}}

    def serve(self, text):
        began, now = time.perf_counter(), time.time_ns() // 1_000_000
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now / 1000)), "route": "POST /auth/apple",
            "request_id": base64url(secrets.token_bytes(16)), "account_created": False}
        try:
            status, body = self.answer(text, line, now)
        except Refusal as refusal:
            status, body = refusal.status, {"type": "about:blank", "title": "The request was refused"}
        kind = "application/problem+json" if status >= 400 else "application/json"
        print(compact({
            "statusCode": status, "headers": {"content-type": kind, "cache-control": "no-store"},
            "body": compact(body), "isBase64Encoded": False}), flush=True)
        line |= {"status": status, "duration_ms": (time.perf_counter() - began) * 1000}
        print(json.dumps(line), file=sys.stderr, flush=True)


def main():
    service = Service()
    if sys.argv[1:] == ["lines"]:
        for text in sys.stdin.buffer:
            service.serve(text)
    else:
        service.serve(sys.stdin.buffer.read(131072))
    if service.database is not None:
        service.database.close()


if __name__ == "__main__":
    main()
