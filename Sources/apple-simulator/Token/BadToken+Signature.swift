internal import JOSE

extension BadToken {
    /// Everything as it should be, but not signed by the key that it names.
    static var signature: [BadToken] {
        [
            BadToken("bad-signature", "signature", "one bit of the signature is wrong") { draft, _ in
                draft.rewriteParts = { parts in
                    guard var bytes = Base64URL.decode(parts[2]), !bytes.isEmpty else { return parts }
                    bytes[bytes.count / 2] ^= 1
                    return [parts[0], parts[1], Base64URL.encode(bytes)]
                }
            },
            BadToken("no-signature", "signature", "the signature is empty") { draft, _ in draft.signature = .none },
            BadToken("altered-payload", "signature", "sub was changed after signing") { draft, _ in
                var claims = draft.claims
                claims["sub"] = "009999.another.0001"
                let payload = Base64URL.encode(JSON.object(claims).serialized())
                draft.rewriteParts = { [$0[0], payload, $0[2]] }
            },
            BadToken("strange-key", "signature", "by a key that Apple has not, under a name that Apple has") {
                draft, setting in
                draft.signature = .key(try setting.strangeKey())
            },
            BadToken("other-key", "signature", "by another of Apple's keys than the one named") { draft, setting in
                guard case .key(let key) = draft.signature else { return }
                let other = setting.keys.all.first { $0.keyID != key.keyID }
                draft.signature = other.map { .key($0) } ?? .none
            },
        ]
    }
}
