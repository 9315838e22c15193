internal import JOSE
internal import OpenSSLShim

extension PKey {
    static func generate(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PKey {
        let context: PKeyContext? =
            switch algorithm {
            case .rs256: PKeyContext(kind: "RSA")
            case .es256: PKeyContext(kind: "EC")
            }
        guard Library.isReady, let context, unsafe EVP_PKEY_keygen_init(context.handle) == 1 else {
            throw Library.error("generate")
        }
        let isChosen =
            switch algorithm {
            case .rs256: unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context.handle, 2048)
            case .es256: unsafe EVP_PKEY_CTX_set_group_name(context.handle, "prime256v1")
            }
        var handle: OpaquePointer?
        guard isChosen == 1, unsafe EVP_PKEY_generate(context.handle, &handle) == 1, let handle = unsafe handle else {
            throw Library.error("generate")
        }
        return unsafe PKey(takingOwnershipOf: handle)
    }

    /// The key with all its parts, for it to be kept outside the library.
    func privateKey(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PrivateKey {
        let publicKey: PublicKey?
        let parts: PrivateKey.Parts
        switch algorithm {
        case .rs256:
            publicKey = PublicKey.RSA(modulus: try number("n"), exponent: try number("e")).map { .rsa($0) }
            parts = .rsa(
                d: try secret("d"), p: try secret("rsa-factor1"), q: try secret("rsa-factor2"),
                dp: try secret("rsa-exponent1"), dq: try secret("rsa-exponent2"), qi: try secret("rsa-coefficient1"))
        case .es256:
            publicKey = PublicKey.P256(x: try number("qx", count: 32), y: try number("qy", count: 32)).map { .p256($0) }
            parts = .p256(try secret("priv", count: 32))
        }
        guard let key = publicKey.flatMap({ PrivateKey(publicKey: $0, parts: parts) }) else {
            throw CryptographyError("generate: the new key is not fit for use")
        }
        return key
    }

    private func secret(_ name: String, count: Int? = nil) throws(CryptographyError) -> SecretBytes {
        SecretBytes(try number(name, count: count))
    }

    /// A number of the key, big-endian; of `count` bytes, or of as many as it needs.
    private func number(_ name: String, count: Int? = nil) throws(CryptographyError) -> [UInt8] {
        guard let number = BigNumber(of: self, named: name), let bytes = number.bytes(count: count) else {
            throw Library.error("read \(name) of the key")
        }
        return bytes
    }
}
