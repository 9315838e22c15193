package import JOSE

/// Who signed in, as Apple's verified token says. Only `VerifiedAppleToken.identity` makes one, and what we have
/// sealed ourselves gives it back.
package struct AppleIdentity: Hashable, Sendable {
    /// `sub`: the person, for all apps of one developer team. The only thing that identifies.
    package let subject: String
    /// The configured audience that the token was issued for: a Bundle ID or a Services ID.
    package let audience: String
    /// `iat`: when Apple vouched for them.
    package let issuedAt: UnixTime
    package let email: AppleEmail?
    /// `transfer_sub`, present up to 60 days after the app went to another team.
    package let transferSubject: String?
    /// `c_hash`: binds the authorization code that came with the token. Empty, which no code hashes to, when the claim is there
    /// and no string.
    package let codeHash: String?

    init(subject: String, of token: VerifiedAppleToken) {
        let claims = token.claims
        self.subject = subject
        audience = token.audience
        issuedAt = token.issuedAt
        email = AppleEmail(claims: claims)
        transferSubject = claims["transfer_sub"]?.string
        codeHash = claims["c_hash"].map { $0.string ?? "" }
    }
}

/// The address in a verified token. It never identifies and never links accounts.
package struct AppleEmail: Hashable, Sendable {
    package let address: String
    /// Nil when Apple's word was absent or neither a Boolean nor its name.
    package let isVerified: Bool?
    /// Whether it is a Hide My Email alias: by the claim, or by the relay's domain when the claim says nothing.
    package let isPrivate: Bool

    package init(address: String, isVerified: Bool?, isPrivate: Bool) {
        self.address = address
        self.isVerified = isVerified
        self.isPrivate = isPrivate
    }

    /// Nil when there is no usable address. That never fails a login: managed and phone-only Apple Accounts have none.
    init?(claims: JSON.Object) {
        guard let address = claims["email"]?.string, !address.isEmpty, address.utf8.count <= 320 else { return nil }
        self.address = address
        isVerified = Bool(appleClaim: claims["email_verified"])
        isPrivate =
            Bool(appleClaim: claims["is_private_email"])
            ?? address.lowercased().hasSuffix("@privaterelay.appleid.com")
    }
}

extension Bool {
    /// Apple sends Booleans as Boolean or as string, and changed over once without notice (2024-02-06). Anything else is
    /// unknown.
    init?(appleClaim json: JSON?) {
        switch json {
        case .bool(let value)?: self = value
        case .string("true")?: self = true
        case .string("false")?: self = false
        default: return nil
        }
    }
}
