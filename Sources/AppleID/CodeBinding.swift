package import JOSE

/// Whether an authorization code is the one that Apple issued together with an identity token, by the token's `c_hash`
/// (OpenID Connect Core §3.3.2.10).
package enum CodeBinding: String, Hashable, Sendable, CaseIterable {
    /// The token says nothing of a code.
    case unbound
    case bound
    /// The token names another code, or names it in no way that can be checked. This code is not to be used.
    case mismatch

    package init(code: String, identity: AppleIdentity, using cryptography: any Cryptography) {
        guard let hash = identity.codeHash else {
            self = .unbound
            return
        }
        // Apple's identity tokens are RS256 and nothing else (`AppleTokenVerifier`).
        let isEqual = TokenHash.matches(claim: hash, value: code, algorithm: .rs256, using: cryptography)
        self = isEqual ? .bound : .mismatch
    }
}
