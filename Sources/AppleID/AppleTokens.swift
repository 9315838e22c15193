package import JOSE

/// What Apple gives for an authorization code. The tokens do not show when printed.
package struct AppleTokens: Sendable, CustomStringConvertible, CustomReflectable {
    /// Good until the person withdraws; what revocation wants.
    package let refreshToken: String
    let identityToken: String
    let accessToken: String?

    package var description: String { "<tokens of Apple>" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Nil without a refresh token or an identity token: an exchange that leaves nothing to revoke or to confirm has failed.
    init?(_ answer: JSON.Object) {
        guard let refreshToken = Self.token("refresh_token", in: answer),
            let identityToken = Self.token("id_token", in: answer, maximum: CompactJWS.maximumSize)
        else { return nil }
        accessToken = Self.token("access_token", in: answer)
        guard answer["access_token"] == nil || accessToken != nil else { return nil }
        self.refreshToken = refreshToken
        self.identityToken = identityToken
    }

    /// A member that can be a token.
    static func token(_ name: String, in answer: JSON.Object, maximum: Int = 4096) -> String? {
        answer[name]?.string.flatMap { canBeToken($0, maximum: maximum) ? $0 : nil }
    }

    /// Visible characters and nothing else (RFC 6749 Appendix A.11, A.12, A.17), few enough to be kept.
    static func canBeToken(_ text: String, maximum: Int = 4096) -> Bool {
        (1...maximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension AppleTokens {
    /// Makes sure that the code was this person's, and issued to this app. Until then nothing of the answer may be kept: who can
    /// slip a code of their own into somebody's sign-in would tie their grant to the other's account (RFC 9700 §4.5).
    ///
    /// The identity token of the answer goes through the one verifier; then `aud`, `sub` and, if both are there, `at_hash`
    /// against the access token.
    ///
    /// - Parameter subject: the `sub` of the token that came with the code.
    @discardableResult
    package func confirm(
        subject: String, clientID: String, verifier: AppleTokenVerifier, keys: any AppleKeySource, at now: UnixTime
    ) throws(AppleTokensRefusal) -> AppleIdentity {
        let token: VerifiedAppleToken
        do throws(VerificationFailure) {
            token = try verifier.verify(Array(identityToken.utf8)[...], keys: keys, at: now)
        } catch {
            switch error {
            case .refused(let refusal): throw .identityToken(refusal)
            case .keysUnavailable(let outage): throw .keysUnavailable(outage)
            }
        }
        guard token.audience.isIdentical(to: clientID) else { throw .anotherClient }
        guard let claimed = token.claims["sub"]?.string, claimed.isIdentical(to: subject) else { throw .anotherPerson }
        if let hash = token.claims["at_hash"], let accessToken {
            guard let hash = hash.string, token.matches(hash: hash, of: accessToken) else { throw .accessTokenHash }
        }
        return AppleIdentity(subject: claimed, of: token)
    }
}

/// Why the tokens that a code gave are not to be used.
package enum AppleTokensRefusal: Error, Hashable, Sendable {
    case identityToken(TokenRefusal)
    case keysUnavailable(KeysUnavailable)
    case anotherClient
    /// Code injection: the code belongs to somebody else.
    case anotherPerson
    case accessTokenHash

    /// For programs and logs; stable.
    package var word: String {
        switch self {
        case .identityToken(let refusal): "code_id_token_\(refusal.rawValue)"
        case .keysUnavailable: "code_keys_unavailable"
        case .anotherClient: "code_of_another_client"
        case .anotherPerson: "code_of_another_person"
        case .accessTokenHash: "code_at_hash"
        }
    }
}
