internal import JOSE

/// What an app promises at the start of a flow to say at its end (PKCE, RFC 7636): the SHA-256 of its verifier. So who catches
/// the code on its way back to the app, as another app with the same address can, has nothing.
///
/// S256 is the only method: `plain` shows the verifier to whoever sees the start.
package struct CodeChallenge: Hashable, Sendable {
    private let digest: [UInt8]

    /// Nil unless it is the one base64url spelling of a digest, which has 43 characters.
    package init?(_ text: String) {
        guard text.utf8.count == 43, let digest = Base64URL.decode(text) else { return nil }
        self.digest = digest
    }

    var text: String { Base64URL.encode(digest) }

    /// Compared in constant time.
    func isMet(by verifier: CodeVerifier, using cryptography: any Cryptography) -> Bool {
        cryptography.areEqual(cryptography.sha256(verifier.bytes[...])[...], digest[...])
    }
}

/// The secret that the app kept. It does not show when printed.
package struct CodeVerifier: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// Nil unless it is 43 to 128 unreserved characters (RFC 7636 §4.1).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let isUnreserved = bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: false
            }
        }
        guard (43...128).contains(bytes.count), isUnreserved else { return nil }
        self.bytes = bytes
    }

    package var description: String { "<code verifier>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
