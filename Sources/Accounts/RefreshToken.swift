package import JOSE

/// The token that keeps a session alive: the session's id, a secret of 256 bits, and a tag that shows that we made it; 86
/// characters of base64url.
///
/// The id lets the session be found without a scan. The secret is compared by its digest, in constant time. The tag tells a
/// token of ours that was good once, whose reuse ends the session, from one that somebody made up, which must not:
/// session ids are no secrets.
package struct RefreshToken: Hashable, Sendable {
    package let sessionID: UUIDv7
    package let secret: SecretBytes
    private let tag: [UInt8]

    /// Makes a token.
    ///
    /// - Parameter salt: the session's own, `RefreshState.salt`.
    package init(sessionID: UUIDv7, secret: SecretBytes, salt: [UInt8], using cryptography: any Cryptography) {
        self.sessionID = sessionID
        self.secret = secret
        tag = Self.tag(sessionID: sessionID, secret: secret, salt: salt, using: cryptography)
    }

    /// Nil unless it is the one spelling of an id, a secret and a tag.
    package init?(_ text: String) {
        guard text.utf8.count == 86, let bytes = Base64URL.decode(text), bytes.count == 64,
            let sessionID = UUIDv7(bytes: Array(bytes[..<16]))
        else { return nil }
        self.sessionID = sessionID
        secret = SecretBytes(Array(bytes[16..<48]))
        tag = Array(bytes[48...])
    }

    /// What the client gets; to be written to the response and nowhere else.
    package var text: String {
        Base64URL.encode(sessionID.bytes + secret.bytes + tag)
    }

    package func digest(using cryptography: any Cryptography) -> [UInt8] {
        cryptography.sha256(secret.bytes[...])
    }

    /// Whether we made this token, at any time, for the session with this salt.
    package func isGenuine(salt: [UInt8], using cryptography: any Cryptography) -> Bool {
        let expected = Self.tag(sessionID: sessionID, secret: secret, salt: salt, using: cryptography)
        return cryptography.areEqual(tag[...], expected[...])
    }

    /// The token that follows this one. It is made anew from this one and a key of ours whenever it has to be given again,
    /// so it is stored nowhere: neither the store nor our keys give it away, nor both together.
    package func successor(key: SecretBytes, salt: [UInt8], using cryptography: any Cryptography) -> RefreshToken {
        let secret = cryptography.hmacSHA256((sessionID.bytes + self.secret.bytes + salt)[...], key: key.bytes[...])
        return RefreshToken(sessionID: sessionID, secret: SecretBytes(secret), salt: salt, using: cryptography)
    }

    private static func tag(
        sessionID: UUIDv7, secret: SecretBytes, salt: [UInt8], using cryptography: any Cryptography
    ) -> [UInt8] {
        Array(cryptography.hmacSHA256((sessionID.bytes + secret.bytes)[...], key: salt[...])[..<16])
    }
}
