/// What a token of Apple's must say to be accepted. The values are configuration; the rules are in `AppleTokenVerifier`.
package struct TokenPolicy: Sendable {
    /// Accepted `iss`. A constant list and not Apple's discovery document, which once changed while the tokens did not.
    package var issuers: [String]
    /// Accepted `aud`: Bundle IDs and Services IDs, compared as whole strings. Never empty.
    package var audiences: [String]
    /// How far Apple's clock and ours may differ.
    package var leewaySeconds: Int64
    /// The oldest `iat` that is taken.
    package var maximumAgeSeconds: Int64
    /// Refuse a login that sends no nonce.
    package var requiresNonce: Bool

    /// Nil without an audience: a verifier that accepts tokens for anybody must not exist.
    package init?(
        issuers: [String] = ["https://appleid.apple.com"], audiences: [String], leewaySeconds: Int64 = 60,
        maximumAgeSeconds: Int64 = 86_400, requiresNonce: Bool = false
    ) {
        guard !issuers.isEmpty, !audiences.isEmpty, !audiences.contains(""), !issuers.contains("") else { return nil }
        self.issuers = issuers
        self.audiences = audiences
        self.leewaySeconds = leewaySeconds
        self.maximumAgeSeconds = maximumAgeSeconds
        self.requiresNonce = requiresNonce
    }
}
