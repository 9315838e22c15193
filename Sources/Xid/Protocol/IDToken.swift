internal import JOSE

/// An ID token whose signature is the provider's. Whether it is for us, and of now, is another question (`IDTokenExpectation`).
struct SignedIDToken {
    let claims: JSON.Object
    let algorithm: SignatureAlgorithm
}

/// What an ID token must fit (OpenID Connect Core §3.1.3.7, and §12.2 for one that comes with a renewal).
struct IDTokenExpectation {
    /// How far the provider's clock and ours may differ, in seconds.
    static let leeway: Int64 = 60

    let issuer: String
    let clientID: String
    let nonce: SecretText
    /// Set when the person must be the one of before: then a nonce may be missing.
    var former: SessionRecord?
    let accessToken: SecretText
    var code: SecretText?
    var maxAge: Int64?

    /// The person that the token names, if it is for us and about now; else the first reason why not.
    func check(
        _ token: SignedIDToken, at now: UnixTime, using cryptography: any TokenCryptography
    ) throws(XidError) -> String {
        let claims = token.claims
        guard let issuer = claims["iss"]?.string, issuer.isIdentical(to: self.issuer) else {
            throw XidError(.idTokenIssuer)
        }
        guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= 255,
            former.map({ $0.subject.isIdentical(to: subject) }) ?? true
        else { throw XidError(.idTokenSubject) }
        try checkAudience(claims)
        try checkTimes(claims, at: now)
        try checkNonce(claims, using: cryptography)
        try checkHash("at_hash", of: accessToken, in: token, using: cryptography)
        if let code { try checkHash("c_hash", of: code, in: token, using: cryptography) }
        return subject
    }

    private func checkAudience(_ claims: JSON.Object) throws(XidError) {
        let audiences: [JSON] =
            switch claims["aud"] {
            case .array(let values)?: values
            case let value?: [value]
            case nil: []
            }
        guard audiences.allSatisfy({ $0.string != nil }),
            audiences.contains(where: { $0.string?.isIdentical(to: clientID) ?? false })
        else { throw XidError(.idTokenAudience) }
        // `azp` says which of several clients the token was given to; it stands in for none of the above.
        guard let party = claims["azp"] else {
            guard audiences.count == 1 else { throw XidError(.idTokenAuthorizedParty) }
            return
        }
        guard party.string?.isIdentical(to: clientID) ?? false else { throw XidError(.idTokenAuthorizedParty) }
    }

    private func checkTimes(_ claims: JSON.Object, at now: UnixTime) throws(XidError) {
        guard let expiry = claims["exp"]?.integer, let issued = claims["iat"]?.integer else {
            throw XidError(.idTokenMalformed)
        }
        guard now < UnixTime(seconds: expiry).adding(seconds: Self.leeway) else { throw XidError(.idTokenExpired) }
        // No limit to the past: providers issue early, and the device's clock may be the wrong one.
        let latest = now.adding(seconds: Self.leeway)
        guard UnixTime(seconds: issued) <= latest else {
            throw XidError(
                .idTokenNotYetValid,
                message:
                    "The ID token is from the future: its clock and the device's differ by \(issued.subtractingReportingOverflow(now.seconds).partialValue) s. "
                    + "Check the device's clock; then call signIn() again.")
        }
        if let notBefore = claims["nbf"] {
            guard let notBefore = notBefore.integer else { throw XidError(.idTokenMalformed) }
            guard UnixTime(seconds: notBefore) <= latest else { throw XidError(.idTokenNotYetValid) }
        }
        if let maxAge {
            guard let time = claims["auth_time"]?.integer, UnixTime(seconds: time) <= latest,
                now <= UnixTime(seconds: time).adding(seconds: maxAge).adding(seconds: Self.leeway)
            else { throw XidError(.idTokenAuthTime) }
        }
        if let before = former?.claims.object["auth_time"], let time = claims["auth_time"], time != before {
            throw XidError(.idTokenAuthTime)
        }
    }

    private func checkNonce(_ claims: JSON.Object, using cryptography: any TokenCryptography) throws(XidError) {
        guard let claim = claims["nonce"] else {
            guard former != nil else { throw XidError(.idTokenNonce) }
            return
        }
        guard let claim = claim.string, cryptography.areEqual(Array(claim.utf8)[...], Array(nonce.text.utf8)[...])
        else {
            throw XidError(.idTokenNonce)
        }
    }

    /// Core §3.1.3.6, §3.3.2.11: where the provider sends it.
    private func checkHash(
        _ name: String, of secret: SecretText, in token: SignedIDToken, using cryptography: any TokenCryptography
    ) throws(XidError) {
        guard let claim = token.claims[name] else { return }
        guard let claim = claim.string,
            TokenHash.matches(claim: claim, value: secret.text, algorithm: token.algorithm, using: cryptography)
        else { throw XidError(.idTokenHash) }
    }
}

extension KeySet {
    /// The one key that can have signed: of that name and kind, or, where the token names none, the only one of its kind (OpenID
    /// Connect Core §10.1).
    func candidate(for header: CompactJWS.Header) throws(JOSEError) -> JWK {
        let candidates = keys.filter { key in
            key.algorithm == header.algorithm && (header.keyID.map { key.isNamed($0) } ?? true)
        }
        guard let key = candidates.first else { throw .keyUnknown }
        guard candidates.count == 1 else { throw .keyAmbiguous }
        return key
    }
}

extension XidError {
    init(idToken error: JOSEError) {
        let code: Code =
            switch error {
            case .tooLarge: .responseTooLarge
            case .malformed, .critical: .idTokenMalformed
            case .algorithm: .idTokenAlgorithm
            case .keyIDMissing, .keyUnknown, .keyUnusable: .idTokenKeyUnknown
            case .keyAmbiguous: .ambiguousKey
            case .signature: .idTokenSignature
            }
        self.init(code)
    }
}
