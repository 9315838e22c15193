"""What schemathesis has done to sessions, and what must follow: a session that is over is a 401 from then on, one that
lives is none. It learns from every answer, in whatever phase, and is asked for a token where no link brought one.
"""

import base64
import json
from urllib.parse import urlsplit


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Session:
    def __init__(self, account, access_token):
        self.account = account
        self.access_token = access_token
        self.is_over = False
        # The refresh tokens that were issued; the last one is good.
        self.refresh_tokens = []


class Sessions:
    """Every session of which a token was seen, by its id."""

    def __init__(self, access_tokens):
        self.known = {}
        self.by_access_token = {}
        self.tally = {"refused when over": 0, "served while alive": 0, "refreshed": 0, "ended by reuse": 0}
        for token in access_tokens:
            claims = json.loads(decoded(token.split(".")[1]))
            self.known[claims["sid"]] = Session(claims["sub"], token)
            self.by_access_token[token] = claims["sid"]

    def living(self, account=None):
        return [one for one in self.known.values() if not one.is_over and account in (None, one.account)]

    def owner_token(self, session_id):
        """An access token of whoever has the session; None where nobody is known to."""
        session = self.known.get(session_id)
        own = self.living(session.account) if session else []
        return own[-1].access_token if own else None

    def living_token(self, token):
        """That token, or that of somebody else when its session is over and somebody else is there."""
        session = self.known.get(self.by_access_token.get(token))
        others = self.living() if session and session.is_over else []
        return others[-1].access_token if others else token

    def end(self, session_id):
        if session := self.known.get(session_id):
            session.is_over = True

    def learn(self, request, status, answer):
        """Takes in an answer; what is wrong with it as a sentence, or None."""
        method, path = request.method, urlsplit(request.url).path
        token = refresh_token(request.body)
        if status in (200, 201) and isinstance(answer, dict) and "access_token" in answer:
            is_refresh = path == "/auth/refresh"
            fault = self.refreshed(token, answer) if is_refresh else None
            # The token that was good was issued, if not before these eyes.
            self.signed_in(answer, ([token] if is_refresh else []) + [answer["refresh_token"]])
            return fault
        if path == "/auth/refresh":
            return self.not_refreshed(token) if status == 401 else None
        if path == "/auth/logout":
            if status == 204:
                self.end(session_of(token) if request.body else self.bearer(request)[0])
            # Ending a session that is over is no failure.
            return None
        return self.seen(*self.bearer(request), method, path, status)

    def signed_in(self, answer, refresh_tokens):
        session = self.known.setdefault(answer["session"]["id"], Session(answer["user"]["id"], ""))
        session.access_token = answer["access_token"]
        self.by_access_token[session.access_token] = answer["session"]["id"]
        for token in refresh_tokens:
            if token not in session.refresh_tokens:
                session.refresh_tokens.append(token)

    def refreshed(self, token, answer):
        self.tally["refreshed"] += 1
        if session_of(token) != answer["session"]["id"]:
            return "a refresh changed the session"
        session = self.known.get(session_of(token))
        return "a session that is over was refreshed" if session and session.is_over else None

    def not_refreshed(self, token):
        session = self.known.get(session_of(token))
        if session is None or token not in session.refresh_tokens:
            return None
        if session.is_over:
            self.tally["refused when over"] += 1
        elif token == session.refresh_tokens[-1]:
            return "a refresh token that was never used is refused"
        else:
            # Used before, and the grace is past.
            self.tally["ended by reuse"] += 1
            session.is_over = True
        return None

    def seen(self, session_id, session, method, path, status):
        """A request that wants an access token, or does not care for one."""
        wants_one = path in ("/auth/me", "/auth/sessions") or path.startswith("/auth/sessions/")
        if session is None or not wants_one:
            return None
        if session.is_over:
            self.tally["refused when over"] += status == 401
            return f"{status} for a session that is over" if status < 400 or status == 403 else None
        if status == 401:
            return "401 for a session that lives"
        if status in (200, 204):
            self.tally["served while alive"] += 1
        if method == "DELETE" and status in (200, 204):
            for ended, other in self.known.items():
                is_meant = {
                    "/auth/me": other.account == session.account,
                    "/auth/sessions": other.account == session.account and other is not session,
                }.get(path, path.endswith("/" + ended))
                if is_meant:
                    self.end(ended)
        return None

    def bearer(self, request):
        """The session of the request's access token, where it is one that was issued."""
        session_id = self.by_access_token.get(self.token_of(request.headers))
        return session_id, self.known.get(session_id)

    @staticmethod
    def token_of(headers):
        value = headers.get("Authorization") or ""
        return (value.decode() if isinstance(value, bytes) else str(value)).removeprefix("Bearer ")


def refresh_token(body):
    try:
        return json.loads(body)["refresh_token"]
    except (TypeError, ValueError, KeyError):
        return None


def session_of(token):
    """A refresh token begins with its session's id."""
    try:
        text = decoded(token)[:16].hex()
    except (TypeError, ValueError):
        return None
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
