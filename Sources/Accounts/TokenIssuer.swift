package import JOSE

/// Issues our own tokens. From the verified identity on, a session is the same for every kind of login.
package struct TokenIssuer: Sendable {
    package let issuer: String
    package let audience: String
    package let accessTokenSeconds: Int64
    private let signingKey: SigningKey
    private let cryptography: any Cryptography

    package init(
        issuer: String, audience: String, accessTokenSeconds: Int64, signingKey: SigningKey,
        cryptography: any Cryptography
    ) {
        self.issuer = issuer
        self.audience = audience
        self.accessTokenSeconds = accessTokenSeconds
        self.signingKey = signingKey
        self.cryptography = cryptography
    }

    /// The tokens of a session, as its client gets them.
    func tokens(
        for session: Session, refreshToken: RefreshToken, id: UUIDv7, at now: UnixTime
    ) throws(CryptographyError) -> IssuedTokens {
        IssuedTokens(
            accessToken: try accessToken(for: session, id: id, at: now), accessExpiresIn: accessTokenSeconds,
            refreshToken: refreshToken.text, refreshExpiresIn: session.expiresAt.seconds - now.seconds)
    }

    /// A JWT access token (RFC 9068 §2) for a session.
    private func accessToken(for session: Session, id: UUIDv7, at now: UnixTime) throws(CryptographyError) -> String {
        let claims: JSON = [
            "iss": .string(issuer), "sub": .string(session.accountID.description), "aud": .string(audience),
            "client_id": .string(session.clientID), "sid": .string(session.id.description),
            "jti": .string(id.description), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + accessTokenSeconds),
        ]
        return try CompactJWS.signed(claims.serialized(), type: "at+jwt", by: signingKey, using: cryptography)
    }
}

/// The two tokens of a session, as the client gets them. They do not show when printed.
package struct IssuedTokens: Sendable, CustomStringConvertible, CustomReflectable {
    package let accessToken: String
    /// Seconds.
    package let accessExpiresIn: Int64
    package let refreshToken: String
    /// Seconds.
    package let refreshExpiresIn: Int64

    package var description: String { "<tokens>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
