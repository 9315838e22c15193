package import JOSE

/// Why something with a session was not done.
package enum SessionFailure: Error, Hashable {
    /// The token that was presented does not stand for a living session.
    case refused(SessionRefusal)
    case accountDisabled
    /// The session that is to be ended is not one of the caller's.
    case noSuchSession
    case store(StoreError)
    case cryptography(CryptographyError)
}

/// Why a token of ours was refused: for our log. The caller learns only that it was.
package enum SessionRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case accessTokenMissing = "access_token_missing"
    case accessTokenMalformed = "access_token_malformed"
    case accessTokenKey = "access_token_key"
    case accessTokenSignature = "access_token_signature"
    case accessTokenIssuer = "access_token_issuer"
    case accessTokenAudience = "access_token_audience"
    case accessTokenExpired = "access_token_expired"
    case refreshMalformed = "refresh_malformed"
    case refreshUnknown = "refresh_unknown"
    case refreshReused = "refresh_reused"
    case sessionExpired = "session_expired"
    case sessionUnknown = "session_unknown"
}
