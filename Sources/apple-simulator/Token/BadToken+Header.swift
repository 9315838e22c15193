internal import JOSE

extension BadToken {
    /// A header that leads astray whoever lets the token choose how it is verified.
    static var header: [BadToken] {
        [
            BadToken("alg-none", "alg", "alg is none, and no signature") { draft, _ in
                draft.header["alg"] = "none"
                draft.signature = .none
            },
            BadToken("alg-none-disguised", "alg", "alg is nOnE, and no signature") { draft, _ in
                draft.header["alg"] = "nOnE"
                draft.signature = .none
            },
            BadToken("hs256-public-key", "alg", "alg is HS256, and the secret is Apple's public key as PEM") {
                draft, _ in
                guard case .key(let key) = draft.signature, case .rsa(let rsa) = key.privateKey.publicKey else {
                    return
                }
                draft.header["alg"] = "HS256"
                draft.signature = .hmac(Array(rsa.pem.utf8))
            },
            BadToken("es256", "alg", "alg is ES256, by a key that Apple has not") { draft, setting in
                draft.header["alg"] = "ES256"
                draft.signature = .key(try setting.strangeKey(.es256))
            },
            BadToken("no-alg", "malformed", "no alg") { draft, _ in draft.header["alg"] = nil },
            BadToken("unknown-kid", "kid_unknown", "a kid that is not in the set") { draft, setting in
                let name = try setting.cryptography.randomBytes(8)
                draft.header["kid"] = .string("x" + Base64URL.encode(name))
            },
            BadToken("no-kid", "kid_missing", "no kid") { draft, _ in draft.header["kid"] = nil },
            BadToken("kid-number", "malformed", "kid is a number") { draft, _ in draft.header["kid"] = .integer(1) },
            BadToken("long-kid", "malformed", "kid has 65 characters") { draft, _ in
                draft.header["kid"] = .string(String(repeating: "k", count: 65))
            },
            BadToken("crit", "crit", "a crit header, which nobody understands") { draft, _ in
                draft.header["crit"] = .array(["b64"])
                draft.header["b64"] = .bool(true)
            },
            BadToken("embedded-jwk", "signature", "by a strange key that the header brings along") { draft, setting in
                let key = try setting.strangeKey()
                draft.header["jwk"] = key.jwk.json
                draft.signature = .key(key)
            },
            BadToken("embedded-jku", "signature", "by a strange key, with an address to fetch it from") {
                draft, setting in
                draft.header["jku"] = "http://127.0.0.1:9/keys"
                draft.signature = .key(try setting.strangeKey())
            },
            BadToken("duplicate-header", "malformed", "kid twice, with two values") { draft, _ in
                draft.rewriteHeader = { Array($0.dropLast()) + Array(#","kid":"strange"}"#.utf8) }
            },
            BadToken("header-array", "malformed", "the header is an array") { draft, _ in
                draft.rewriteHeader = { [UInt8(ascii: "[")] + $0 + [UInt8(ascii: "]")] }
            },
        ]
    }
}
