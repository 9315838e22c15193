package import JOSE

/// Verifies our own access tokens (RFC 9068 §4), by the same code that verifies Apple's.
package struct AccessTokenVerifier: Sendable {
    private let issuer: String
    private let audience: String
    private let keys: KeySet
    private let cryptography: any Cryptography

    package init(issuer: String, audience: String, keys: KeySet, cryptography: any Cryptography) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
        self.cryptography = cryptography
    }

    func verify(_ token: ArraySlice<UInt8>, at now: UnixTime) throws(SessionRefusal) -> AccessTokenClaims {
        let claims: JSON.Object
        do throws(JOSEError) {
            let jws = try CompactJWS(parsing: token, allowing: [.es256, .rs256])
            // The type keeps every other token that our key may sign from passing for an access token.
            guard let type = jws.header.type?.lowercased(), type == "at+jwt" || type == "application/at+jwt" else {
                throw .malformed
            }
            claims = try jws.verified(by: try keys.key(named: jws.header.keyID), using: cryptography).claims()
        } catch {
            throw SessionRefusal(error)
        }
        guard claims["iss"]?.string == issuer else { throw .accessTokenIssuer }
        guard claims["aud"]?.string == audience else { throw .accessTokenAudience }
        guard let expiry = claims["exp"]?.integer, now < UnixTime(seconds: expiry) else { throw .accessTokenExpired }
        guard let accountID = claims["sub"]?.string.flatMap({ UUIDv7($0) }),
            let sessionID = claims["sid"]?.string.flatMap({ UUIDv7($0) }),
            let issued = claims["iat"]?.integer
        else { throw .accessTokenMalformed }
        return AccessTokenClaims(accountID: accountID, sessionID: sessionID, issuedAt: UnixTime(seconds: issued))
    }
}

/// What a verified access token says. Only `AccessTokenVerifier.verify` makes one.
struct AccessTokenClaims {
    let accountID: UUIDv7
    let sessionID: UUIDv7
    let issuedAt: UnixTime

    fileprivate init(accountID: UUIDv7, sessionID: UUIDv7, issuedAt: UnixTime) {
        self.accountID = accountID
        self.sessionID = sessionID
        self.issuedAt = issuedAt
    }
}

extension SessionRefusal {
    fileprivate init(_ error: JOSEError) {
        self =
            switch error {
            case .tooLarge, .malformed, .algorithm, .critical: .accessTokenMalformed
            case .keyIDMissing, .keyUnknown, .keyAmbiguous, .keyUnusable: .accessTokenKey
            case .signature: .accessTokenSignature
            }
    }
}
