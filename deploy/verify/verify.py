"""Verifies our access tokens in Python with PyJWT.

  JWKS_URL=https://auth.example.com/.well-known/jwks.json TOKEN_ISSUER=… TOKEN_AUDIENCE=… python3 verify.py <tokens

One token a line; prints "ok" with account and session, or "refused" with the reason.
"""

import os
import sys

import jwt

# Remembers the key set for five minutes: less than a key is published before it signs.
keys = jwt.PyJWKClient(os.environ["JWKS_URL"], lifespan=300)


def verify(token):
    # No other kind of token of the same issuer.
    if jwt.get_unverified_header(token).get("typ", "").lower() != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    return jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        algorithms=["ES256", "RS256"],  # never what the token itself says
        issuer=os.environ["TOKEN_ISSUER"],
        audience=os.environ["TOKEN_AUDIENCE"],
        options={"require": ["exp", "iat", "iss", "aud", "sub"]},
    )


for line in sys.stdin:
    try:
        claims = verify(line.strip())
        print("ok", claims["sub"], claims["sid"], flush=True)
    except jwt.PyJWTError as error:
        print("refused", type(error).__name__, flush=True)
