package import JOSE

/// The token that keeps a session alive: the session's id and a secret of 256 random bits, 64 characters of base64url.
///
/// The store keeps the digest of the secret only. The id lets the session be found without a scan; the digest is then
/// compared in constant time.
package struct RefreshToken: Hashable, Sendable {
    package let sessionID: UUIDv7
    package let secret: SecretBytes

    package init(sessionID: UUIDv7, secret: SecretBytes) {
        self.sessionID = sessionID
        self.secret = secret
    }

    /// Nil unless it is the one spelling of a session's id and a secret.
    package init?(_ text: String) {
        guard text.utf8.count == 64, let bytes = Base64URL.decode(text),
            let sessionID = UUIDv7(bytes: Array(bytes[..<16]))
        else { return nil }
        self.sessionID = sessionID
        secret = SecretBytes(Array(bytes[16...]))
    }

    /// What the client gets; to be written to the response and nowhere else.
    package var text: String {
        Base64URL.encode(sessionID.bytes + secret.bytes)
    }

    package func digest(using cryptography: any Cryptography) -> [UInt8] {
        cryptography.sha256(secret.bytes[...])
    }
}
