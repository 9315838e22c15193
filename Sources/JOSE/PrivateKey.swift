/// A private key that signs. Its secret parts never show in a description.
package struct PrivateKey: Hashable, Sendable {
    package enum Parts: Hashable, Sendable {
        /// The scalar `d`, 32 bytes.
        case p256(SecretBytes)
        /// RFC 8017 §3.2, second form: d, p, q, dP, dQ, qInv.
        case rsa(d: SecretBytes, p: SecretBytes, q: SecretBytes, dp: SecretBytes, dq: SecretBytes, qi: SecretBytes)
    }

    package let publicKey: PublicKey
    package let parts: Parts

    package init?(publicKey: PublicKey, parts: Parts) {
        switch (publicKey, parts) {
        case (.p256, .p256(let d)): guard d.bytes.count == 32 else { return nil }
        case (.rsa, .rsa): break
        case (.p256, .rsa), (.rsa, .p256): return nil
        }
        self.publicKey = publicKey
        self.parts = parts
    }

    package var algorithm: SignatureAlgorithm { publicKey.algorithm }
}
