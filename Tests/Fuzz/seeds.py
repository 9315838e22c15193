"""Writes the seeds of the corpora: the events of events/, and small examples made here. What fuzzing adds has other names.

    python3 Tests/Fuzz/seeds.py
"""

import base64
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = pathlib.Path(__file__).resolve().parent / "Corpus"
NOW = 1_800_000_000
HEADER = '{"kid":"apple","alg":"RS256"}'
ID = "01926d3e-7b1c-7abc-8def-0123456789ab"
MODULUS = (
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgN"
    "MsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xs"
    "mtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
)
RSA = {"e": "AQAB", "kty": "RSA", "n": MODULUS, "use": "sig", "alg": "RS256", "kid": "apple"}
EC = {
    "crv": "P-256", "kty": "EC", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "use": "sig", "alg": "ES256", "kid": "ours",
}
# RFC 7515, appendices A.2 and A.3.
PAYLOAD = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
EXAMPLES = [
    "eyJhbGciOiJSUzI1NiJ9." + PAYLOAD + ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5Y"
    "Kt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZR"
    "mB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywl"
    "VmtVrBp0igcN_IoypGlUPQGe77Rw",
    "eyJhbGciOiJFUzI1NiJ9." + PAYLOAD + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6"
    "NU1Q",
]


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(content if isinstance(content, bytes) else content.encode())


def json_seeds():
    write("json", "kinds", '{"a":[null,true,false,-0,1.5e+3,12345678901234567890,""],"\\ud83d\\ude00":{"é":"\\u0000\\n"}}')
    write("json", "deep", "[" * 30 + "]" * 30)
    write("json", "wide", compact({f"n{index}": index for index in range(20)}))
    write("json", "kelvin", '{"K":1,"\\u212a":2}')


def jose_seeds():
    write("base64url", "text", "AAEC-_8")
    write("base64url", "refresh", base64.urlsafe_b64encode(bytes(range(64))).rstrip(b"="))
    write("base64url", "id", ID)
    for index, token in enumerate(EXAMPLES):
        write("jws", f"rfc7515-{index}", token)
    header = base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"apple","typ":"JWT","jwk":{}}').rstrip(b"=")
    write("jws", "kid", header + b".e30.AAAA")
    write("key-set", "both", compact({"keys": [RSA, EC]}))
    write("key-set", "ops", compact({"keys": [{**EC, "key_ops": ["verify"]}, {"kty": "oct", "k": "AAAA"}]}))


def token_seeds():
    claims = {
        "iss": "https://appleid.apple.com", "aud": "com.example.app", "exp": NOW + 3600, "iat": NOW, "sub": "001.a.0001",
        "email": "a@privaterelay.appleid.com", "email_verified": "true", "is_private_email": True, "nonce_supported": True,
    }
    write("apple-token", "good", f"{HEADER}\n{compact(claims)}")
    write("apple-token", "nonce", f"{HEADER}\n{compact({**claims, 'nonce': 'abc'})}\nabc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    write("apple-token", "digest", f"{HEADER}\n{compact({**claims, 'nonce': digest})}\nabc")
    write("apple-token", "audiences", f"{HEADER}\n{compact({**claims, 'aud': ['x', 'com.example.app'], 'nbf': NOW})}")
    unsupported = {**claims, "nonce_supported": False, "transfer_sub": "t", "c_hash": "h"}
    write("apple-token", "unsupported", f"{HEADER}\n{compact(unsupported)}\nabc")
    access = {
        "iss": "https://auth.example", "sub": ID, "aud": "https://api.example", "client_id": "c", "sid": ID, "jti": ID,
        "iat": NOW, "exp": NOW + 900,
    }
    write("access-token", "good", '{"alg":"ES256","kid":"ours","typ":"at+jwt"}' + f"\n{compact(access)}")
    write("access-token", "long", '{"alg":"ES256","kid":"ours","typ":"application/at+jwt"}' + f"\n{compact(access)}")
    inner = {
        "account": ID, "sub": "001", "name": "Ana", "email": {"address": "a@b", "is_verified": True, "is_private": False},
        "created_at": 1, "is_new": True, "session": ID, "access": "a", "access_seconds": 900, "refresh": "r",
        "refresh_seconds": 100,
    }
    write("receipt", "inner", "+" + compact(inner))
    write("receipt", "outer", compact({"kid": "ours", "sealed": "AAAA"}))


def key_cache_seeds():
    fetched = {"fetched_at": NOW * 1000, "fresh_until": NOW * 1000 + 3_600_000, "entity_tag": '"a"', "keys": [RSA]}
    record = {"format": 1, "url": "https://appleid.apple.com/auth/keys", "attempt": {"ended_at": 1, "failed": False}}
    write("key-record", "full", compact({**record, "missed_at": 5, "fetched": fetched}))
    write("key-record", "empty", compact({**record, "attempt": None, "missed_at": None, "fetched": None}))
    write("key-response", "new", '200\npublic, max-age=600, x="y"\n20\nW/"b"\n' + compact({"keys": [RSA, EC]}))
    write("key-response", "same", '304\nno-store\n\n"a"\n')
    write("key-response", "fault", "503\n\n\n\n<html>")


def event_seeds():
    shapes = {
        "__ow_method": "openwhisk", "elb": "load-balancer", '"version": "2.0"': "api-gateway-v2",
        "requestContext": "api-gateway-v1",
    }
    for file in sorted((ROOT / "events").rglob("*.event.json")):
        text = file.read_text()
        shape = next((shape for mark, shape in shapes.items() if mark in text), "plain")
        if len(text) <= 4096:
            write(f"event-{shape}", file.name.removesuffix(".event.json"), text)


def request_seeds():
    get = ["REQUEST_METHOD=GET", "SCRIPT_NAME=", "PATH_INFO=/health", "REQUEST_URI=/health?a=b", "QUERY_STRING=a=b"]
    write("cgi", "health", "\0".join(get))
    post = [
        "REQUEST_METHOD=POST", "SCRIPT_NAME=/auth", "PATH_INFO=/apple", "REQUEST_URI=/auth/apple", "CONTENT_LENGTH=24",
        "CONTENT_TYPE=application/json", "REMOTE_ADDR=192.0.2.1", "HTTP_USER_AGENT=App/1", "HTTP_ACCEPT_LANGUAGE=en",
        "HTTP_COOKIE=a=b; c=d", "HTTP_X_FORWARDED_FOR=192.0.2.9",
    ]
    write("cgi", "sign-in", "\0".join(post) + '\0\0{"identity_token":"a.b"}')
    write("cgi", "chunked", "REQUEST_METHOD=HEAD\0PATH_INFO=/mount/health\0HTTP_TRANSFER_ENCODING=chunked\0\0abc\r\nx: y")
    write("headers", "bearer", "GET /auth/me\nauthorization: Bearer " + EXAMPLES[1] + "\naccept-language: en;q=0.8, es;q=0.5")
    write("headers", "sign-in", "POST /auth/apple\ncontent-type: application/json; charset=utf-8\nidempotency-key: \"k\"")
    write("headers", "address", "GET /auth/sessions\nx-forwarded-for: 2001:db8::1, ::ffff:192.0.2.1\ncookie: __Host-a=b; c=d")
    write("headers", "delete", f"DELETE /auth/sessions/{ID}\nauthorization: bearer x")
    write("text", "name", '{"givenName":"Ana Belén","familyName":"Ruiz","nickname":"\\u202e","namePrefix":null}')
    write("text", "marks", "  \u202eA\u0301\u200b\t\u2028 Ruiz\x00 ")
    write("text", "device", '{"id":"1","os":[{"a":{"b":1.5}}]}')
    for reader, text in enumerate([
        '{"a":[1,2],"b":"\\u00e9"}', '{"method":"GET","path":"/a","headers":{"a":"b"}}', "HTTP_A=b\0PATH_INFO=/a/b",
        "en-GB;q=0.5,*;q=0.1", "Bearer a.b, 192.0.2.1", '{"givenName":"A\u0301"}', '{"identity_token":"a.b.c","deviceInfo":{}}',
        compact({"keys": [EC]}), "max-age=60, no-cache",
    ]):
        write("growth", str(reader), bytes([reader, len(text) // 3, 4]) + text.encode())


# RFC 7515, appendix A.3, as PKCS #8 (RFC 5958) and as SEC 1 (RFC 5915).
PRIVATE = base64.urlsafe_b64decode("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI=")
PUBLIC = b"\x04" + b"".join(base64.urlsafe_b64decode(EC[name] + "=") for name in "xy")
SEC1 = bytes.fromhex("30770201010420") + PRIVATE + bytes.fromhex("a00a06082a8648ce3d030107a144034200") + PUBLIC
PKCS8 = (
    bytes.fromhex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420") + PRIVATE
    + bytes.fromhex("a144034200") + PUBLIC
)


def pem(label, der):
    text = base64.b64encode(der).decode()
    lines = [text[index : index + 64] for index in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def pasted_seeds():
    key = pem("PRIVATE KEY", PKCS8)
    write("pasted-key", "file", key)
    write("pasted-key", "escaped", '"' + key.replace("\n", "\\n") + '"')
    write("pasted-key", "base64", base64.b64encode(key.encode()))
    write("pasted-key", "body", base64.b64encode(PKCS8))
    curve = pem("EC PARAMETERS", bytes.fromhex("06082a8648ce3d030107"))
    write("pasted-key", "sec1", curve + pem("EC PRIVATE KEY", SEC1))
    write("pasted-key", "encrypted", pem("ENCRYPTED PRIVATE KEY", bytes.fromhex("3009300506032a0304040100")))
    write("form", "apple", 'state=a.b&code=c0.0&id_token=x.y.z&user=%7B%22name%22%3A%7B%22firstName%22%3A%22Ana+B%C3%A9%22%7D%7D')
    write("form", "query", "return_url=com.example.app%3A%2Fsigned-in&code_challenge=E9&code_challenge_method=S256&state=")
    write("form", "odd", "a&&=b&a=1&a=2&%00=%ff")
    write("form", "many", "&".join(f"a{index}=" for index in range(33)))
    write("form", "escapes", "a=%2541&b=%25zz&c=%2B+%26%3D")
    write("form", "twins", "e%CC%81=1&%C3%A9=2")


for seeds in [json_seeds, jose_seeds, token_seeds, key_cache_seeds, event_seeds, request_seeds, pasted_seeds]:
    seeds()
