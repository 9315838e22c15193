internal import JOSE

extension BadToken {
    /// Other spellings of a good token: whoever accepts one has no single name for a token.
    static var form: [BadToken] {
        [
            BadToken("padded", "malformed", "base64url with padding") { draft, _ in
                draft.rewriteParts = { parts in
                    parts.map { $0 + String(repeating: "=", count: (4 - $0.utf8.count % 4) % 4) }
                }
            },
            BadToken("non-canonical", "malformed", "the unused bits at the end of the signature are not zero") {
                draft, _ in
                draft.rewriteParts = { parts in
                    // 256 bytes leave four unused bits in the last character, which is therefore one of A, Q, g and w.
                    let next = ["A": "B", "Q": "R", "g": "h", "w": "x"]
                    return [parts[0], parts[1], parts[2].dropLast() + (next[String(parts[2].suffix(1))] ?? "")]
                }
            },
            BadToken("white-space", "malformed", "a line end at the end") { draft, _ in
                draft.rewriteParts = { [$0[0], $0[1], $0[2] + "\r\n"] }
            },
            BadToken("two-parts", "malformed", "the signature is left out with its dot") { draft, _ in
                draft.rewriteParts = { Array($0.prefix(2)) }
            },
            BadToken("four-parts", "malformed", "a fourth part") { draft, _ in draft.rewriteParts = { $0 + ["AAAA"] } },
            BadToken("five-parts", "malformed", "five parts, as an encrypted token has") { draft, _ in
                draft.rewriteParts = { $0 + ["AAAA", "AAAA"] }
            },
            BadToken("oversized", "too_large", "more than 8 KiB") { draft, _ in
                draft.claims["padding"] = .string(String(repeating: "x", count: 8192))
            },
            BadToken("dots", "malformed", "nothing but dots") { draft, _ in
                draft.rewriteParts = { _ in Array(repeating: "", count: 1024) }
            },
        ]
    }
}
