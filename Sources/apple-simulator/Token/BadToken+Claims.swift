internal import JOSE

extension BadToken {
    /// Signed by Apple's own key, and saying what must not be accepted.
    static var claims: [BadToken] {
        [
            BadToken("expired", "expired", "exp was an hour ago") { draft, setting in
                draft.claims["exp"] = .integer(setting.now - 3600)
                draft.claims["iat"] = .integer(setting.now - 3600 - IdentityToken.lifetime)
            },
            BadToken("no-exp", "malformed", "no exp") { draft, _ in draft.claims["exp"] = nil },
            BadToken("exp-string", "malformed", "exp is a string") { draft, setting in
                draft.claims["exp"] = .string(String(setting.now + 3600))
            },
            BadToken("no-iat", "malformed", "no iat") { draft, _ in draft.claims["iat"] = nil },
            BadToken("not-yet-valid", "not_yet_valid", "iat is an hour ahead") { draft, setting in
                draft.claims["iat"] = .integer(setting.now + 3600)
                draft.claims["exp"] = .integer(setting.now + 3600 + IdentityToken.lifetime)
            },
            BadToken("too-old", "too_old", "issued two days ago, though exp is ahead") { draft, setting in
                draft.claims["iat"] = .integer(setting.now - 172_800)
                draft.claims["exp"] = .integer(setting.now + 3600)
            },
            BadToken("wrong-audience", "audience", "for another app") { draft, _ in
                draft.claims["aud"] = "com.example.another"
            },
            BadToken("audience-prefix", "audience", "for an app whose name begins like this one's") { draft, _ in
                draft.claims["aud"] = .string((draft.claims["aud"]?.string ?? "") + ".beta")
            },
            BadToken("no-audience", "audience", "no aud") { draft, _ in draft.claims["aud"] = nil },
            BadToken("empty-audience", "audience", "aud is an empty array") { draft, _ in
                draft.claims["aud"] = .array([])
            },
            BadToken("wrong-issuer", "issuer", "iss is not Apple, though it begins like it") { draft, _ in
                draft.claims["iss"] = "https://appleid.apple.com.example.net"
            },
            BadToken("no-issuer", "issuer", "no iss") { draft, _ in draft.claims["iss"] = nil },
            BadToken("no-subject", "subject", "no sub") { draft, _ in draft.claims["sub"] = nil },
            BadToken("empty-subject", "subject", "sub is the empty string") { draft, _ in draft.claims["sub"] = "" },
            BadToken("long-subject", "subject", "sub has 256 characters") { draft, _ in
                draft.claims["sub"] = .string(String(repeating: "0", count: 256))
            },
            BadToken("subject-number", "subject", "sub is a number") { draft, _ in draft.claims["sub"] = .integer(1234)
            },
            BadToken("nonce-mismatch", "nonce_mismatch", "another nonce than the app's (refused if the app sends one)")
            {
                draft, setting in
                draft.claims["nonce"] = .string(Base64URL.encode(try setting.cryptography.randomBytes(32)))
            },
            BadToken("nonce-missing", "nonce_missing", "no nonce, though supported (refused if the app sends one)") {
                draft, _ in
                draft.claims["nonce"] = nil
                draft.claims["nonce_supported"] = .bool(true)
            },
            BadToken("nonce-number", "malformed", "the nonce is a number") { draft, _ in
                draft.claims["nonce"] = .integer(1)
            },
            BadToken("duplicate-claim", "malformed", "sub twice, with two values") { draft, _ in
                draft.rewritePayload = { Array($0.dropLast()) + Array(#","sub":"009999.another.0001"}"#.utf8) }
            },
            BadToken("payload-array", "malformed", "the payload is an array") { draft, _ in
                draft.rewritePayload = { [UInt8(ascii: "[")] + $0 + [UInt8(ascii: "]")] }
            },
            BadToken("invalid-utf8", "malformed", "the payload is not UTF-8") { draft, _ in
                draft.rewritePayload = {
                    Array($0.dropLast()) + Array(#","x":""#.utf8) + [0xC0, 0xAF] + Array(#""}"#.utf8)
                }
            },
        ]
    }
}
