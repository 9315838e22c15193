import JOSE
import OpenSSLCrypto
import Testing

struct RFC7638Tests {
    @Test func `3.1: the thumbprint of the example, whatever else the key says`() throws {
        let json: JSON = [
            "kty": "RSA",
            "n":
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
            "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
        ]
        let key = try JWK(json)
        #expect(
            key.key.thumbprint(using: OpenSSLCryptography()) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.keyID == "2011-04-29")
    }

    @Test func `A private key without a name is named by its thumbprint`() throws {
        let cryptography = OpenSSLCryptography()
        let key = try SigningKey(RFC7515Tests.ecKey, using: cryptography)
        #expect(key.keyID == key.privateKey.publicKey.thumbprint(using: cryptography))
        // Computed apart, from the members in the order that §3.2 fixes.
        let text =
            #"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
        #expect(key.keyID == Base64URL.encode(cryptography.sha256(Array(text.utf8)[...])))
    }
}
