internal import JOSE

/// What a browser holds, as a cookie, from the start of a flow to Apple's answer: 256 random bits.
///
/// Apple's answer is a form that any page could send. Only the browser that began a flow may end it, or an attacker could have
/// a victim's browser end the attacker's own flow, and so sign the victim in as the attacker (login CSRF, RFC 6749 §10.12).
/// One value serves all the flows of a browser, so that two at once do not end each other.
package struct BrowserBinding: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// How long the browser is to hold it from each start on: as long as a flow may take.
    package static let seconds = WebFlow.seconds

    private let secret: [UInt8]

    init(using cryptography: any Cryptography) throws(CryptographyError) {
        secret = try cryptography.randomBytes(32)
    }

    /// Nil unless it is the one base64url spelling of 32 bytes.
    package init?(_ text: String) {
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text) else { return nil }
        secret = bytes
    }

    /// The cookie's value; to be written there and nowhere else.
    package var text: String { Base64URL.encode(secret) }

    func digest(using cryptography: any Cryptography) -> [UInt8] {
        cryptography.sha256(secret[...])
    }

    package var description: String { "<browser binding>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
