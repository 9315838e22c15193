/// The half of a digest by which an ID token names what came with it: `at_hash` an access token, `c_hash` an authorization
/// code (OpenID Connect Core §3.1.3.6, §3.3.2.11).
package enum TokenHash {
    /// The left half of the digest that the token's own `alg` uses, as base64url.
    package static func text(
        of value: String, algorithm: SignatureAlgorithm, using cryptography: any TokenCryptography
    ) -> String {
        Base64URL.encode(digestHalf(of: value, algorithm: algorithm, using: cryptography))
    }

    /// Whether the claim is the hash of `value`, compared in constant time. A claim that is anything but the one spelling of a
    /// hash matches nothing.
    package static func matches(
        claim: String, value: String, algorithm: SignatureAlgorithm, using cryptography: any TokenCryptography
    ) -> Bool {
        guard let claimed = Base64URL.decode(claim) else { return false }
        let expected = digestHalf(of: value, algorithm: algorithm, using: cryptography)
        return cryptography.areEqual(claimed[...], expected[...])
    }

    private static func digestHalf(
        of value: String, algorithm: SignatureAlgorithm, using cryptography: any TokenCryptography
    ) -> ArraySlice<UInt8> {
        // No default: an algorithm with another digest must not be hashed with this one.
        switch algorithm {
        case .rs256, .es256: cryptography.sha256(Array(value.utf8)[...])[..<16]
        }
    }
}
