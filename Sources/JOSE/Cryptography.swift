/// What making and checking tokens takes of a cryptographic library: all that a client needs. CryptoKit and Security answer it on
/// Apple's systems, `OpenSSLCrypto` on Linux.
package protocol TokenCryptography: Sendable {
    /// Whether `signature` is `key`'s over exactly these bytes. False for a key that the library refuses, such as a point
    /// off the curve, and for a key of the wrong kind: verification fails closed.
    func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey,
        algorithm: SignatureAlgorithm
    ) -> Bool

    /// A signature in JWS form: for ES256 the 64 bytes r‖s (RFC 7518 §3.4), for RS256 PKCS #1 v1.5 (§3.3). Throws for a kind of key
    /// that the library only verifies by.
    func sign(_ message: ArraySlice<UInt8>, with key: PrivateKey) throws(CryptographyError) -> [UInt8]

    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8]

    /// From the system's secure generator.
    func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8]

    /// Equality that takes the same time wherever the bytes differ. Only a difference in length shows.
    func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool

    /// A new P-256 key, for ES256.
    func generateP256Key() throws(CryptographyError) -> PrivateKey
}

/// What the function asks beyond that. `OpenSSLCrypto` answers it; another library may take its place without a change in
/// any rule.
package protocol Cryptography: TokenCryptography {
    func hmacSHA256(_ message: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> [UInt8]

    /// Encrypts with AES-256-GCM under a random nonce: nonce, ciphertext, tag (NIST SP 800-38D).
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - associatedData: what must be said again to open it.
    func seal(
        _ plaintext: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) throws(CryptographyError) -> [UInt8]

    /// What `seal` was given; nil when the key, the associated data or a bit of `sealed` is another.
    func open(_ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>) -> [UInt8]?

    /// A new key: P-256 for ES256, RSA 2048 for RS256.
    func generateKey(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PrivateKey

    /// A P-256 private key in DER: `PrivateKeyInfo` of PKCS #8 (RFC 5958 §2) or `ECPrivateKey` of SEC 1 (RFC 5915 §3).
    func privateKey(der: ArraySlice<UInt8>) throws(PrivateKeyFault) -> PrivateKey
}

extension Cryptography {
    package func generateP256Key() throws(CryptographyError) -> PrivateKey {
        try generateKey(for: .es256)
    }
}

/// What bytes are that are not a P-256 private key in DER.
package enum PrivateKeyFault: Error, Hashable, Sendable, CaseIterable {
    /// The outermost element is longer than what is there.
    case truncated
    case encrypted
    case publicKey
    case certificate
    case rsa
    /// A key pair that is neither RSA nor on an elliptic curve of this kind.
    case otherKind
    /// On another curve than P-256.
    case curve
    /// A scalar that is out of range, or whose point is not the public half given.
    case notPair
    /// None of these.
    case unreadable
}

/// The library failed, which is our fault and never the caller's.
package struct CryptographyError: Error, Hashable {
    /// The operation, and the library's own words; holds no key material.
    package var reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}

/// The algorithms of this project (RFC 7518 §3.1); there is no other, so `none` and HMAC cannot be chosen by a token.
package enum SignatureAlgorithm: String, Hashable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
}
