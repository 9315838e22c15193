package import JOSE

/// The one place where bytes from Apple become trusted; login and notifications both come through here.
package struct AppleTokenVerifier: Sendable {
    package let policy: TokenPolicy
    private let cryptography: any Cryptography

    package init(policy: TokenPolicy, cryptography: any Cryptography) {
        self.policy = policy
        self.cryptography = cryptography
    }

    /// Verifies shape, key, signature, `iss`, `aud`, `exp` and `iat`, in that order.
    package func verify(
        _ token: ArraySlice<UInt8>, keys: any AppleKeySource, at now: UnixTime
    ) throws(VerificationFailure) -> VerifiedAppleToken {
        let claims = try verifiedClaims(of: token, keys: keys)
        do throws(TokenRefusal) {
            let (audience, issued, expiry) = try check(claims, at: now)
            return VerifiedAppleToken(
                audience: audience, claims: claims, issuedAt: issued, expiresAt: expiry,
                requiresNonce: policy.requiresNonce, cryptography: cryptography)
        } catch {
            throw .refused(error)
        }
    }

    private func verifiedClaims(
        of token: ArraySlice<UInt8>, keys: any AppleKeySource
    ) throws(VerificationFailure) -> JSON.Object {
        let jws = try Self.refusing { () throws(JOSEError) in try CompactJWS(parsing: token, allowing: [.rs256]) }
        guard let keyID = jws.header.keyID else { throw .refused(.keyIDMissing) }
        let known: KeySet
        do throws(KeysUnavailable) {
            known = try keys.keys(naming: keyID)
        } catch {
            throw .keysUnavailable(error)
        }
        return try Self.refusing { () throws(JOSEError) in
            try jws.verified(by: try known.key(named: keyID), using: cryptography).claims()
        }
    }

    /// What JOSE refuses is the token's fault.
    private static func refusing<Success>(
        _ work: () throws(JOSEError) -> Success
    ) throws(VerificationFailure) -> Success {
        do throws(JOSEError) {
            return try work()
        } catch {
            throw .refused(TokenRefusal(error))
        }
    }

    /// The audience that matched, and the beginning and the end of the token's life, if all is well.
    private func check(
        _ claims: JSON.Object, at now: UnixTime
    ) throws(TokenRefusal) -> (audience: String, issued: UnixTime, expiry: UnixTime) {
        guard let issuer = claims["iss"]?.string, policy.issuers.contains(where: issuer.isIdentical)
        else { throw .issuer }

        let audiences: [JSON] =
            switch claims["aud"] {
            case .array(let values)?: values
            case let value?: [value]
            case nil: []
            }
        let audience = audiences.lazy.compactMap(\.string).first { audience in
            policy.audiences.contains(where: audience.isIdentical)
        }
        guard let audience, audiences.allSatisfy({ $0.string != nil }) else { throw .audience }

        // RFC 7519 §4.1.4 allows fractions in a NumericDate; Apple sends integers, and only they are exact.
        guard let expiry = claims["exp"]?.integer, let issued = claims["iat"]?.integer else { throw .malformed }
        let leeway = policy.leewaySeconds
        let end = UnixTime(seconds: expiry).adding(seconds: leeway)
        guard now < end else { throw .expired }
        let issuedAt = UnixTime(seconds: issued)
        guard issuedAt <= now.adding(seconds: leeway) else { throw .notYetValid }
        if let notBefore = claims["nbf"] {
            guard let notBefore = notBefore.integer else { throw .malformed }
            guard UnixTime(seconds: notBefore) <= now.adding(seconds: leeway) else { throw .notYetValid }
        }
        guard now <= issuedAt.adding(seconds: policy.maximumAgeSeconds).adding(seconds: leeway) else { throw .tooOld }
        return (audience, issuedAt, end)
    }
}

/// Why there is no verified token: it is bad, or Apple's keys could not be had.
package enum VerificationFailure: Error, Hashable {
    case refused(TokenRefusal)
    case keysUnavailable(KeysUnavailable)
}
