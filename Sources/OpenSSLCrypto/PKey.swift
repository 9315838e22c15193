internal import JOSE
internal import OpenSSLShim

/// A key inside libcrypto (`EVP_PKEY`), owned.
///
/// A class, because a remembered key may be in use by several threads at once. libcrypto allows that as long as nobody
/// changes the key, and nothing here can.
@safe final class PKey: Sendable {
    nonisolated(unsafe) let handle: OpaquePointer

    init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe EVP_PKEY_free(handle)
    }
}

extension PKey {
    /// Nil when the library refuses the key: here it checks that a point lies on the curve.
    convenience init?(_ key: PublicKey) {
        var parameters = KeyParameters()
        switch key {
        case .rsa(let key):
            parameters.append(number: key.modulus, as: "n")
            parameters.append(number: key.exponent, as: "e")
        case .p256(let key):
            parameters.append(text: "prime256v1", as: "group")
            parameters.append(octets: key.uncompressed, as: "pub")
        }
        self.init(&parameters, kind: key.kind, selection: openssl_shim_public_key)
    }

    /// A key to sign with. Nil when the library refuses it; for P-256 also when the public half is not that of the scalar, as
    /// the tokens of such a key would verify nowhere (and OpenSSL would sign with the scalar zero without a word).
    convenience init?(_ key: PrivateKey) {
        var parameters = KeyParameters()
        switch (key.publicKey, key.parts) {
        case (.p256(let key), .p256(let d)):
            parameters.append(text: "prime256v1", as: "group")
            parameters.append(octets: key.uncompressed, as: "pub")
            parameters.append(number: d.bytes, as: "priv")
        case (.rsa(let key), .rsa(let d, let p, let q, let dp, let dq, let qi)):
            parameters.append(number: key.modulus, as: "n")
            parameters.append(number: key.exponent, as: "e")
            parameters.append(number: d.bytes, as: "d")
            parameters.append(number: p.bytes, as: "rsa-factor1")
            parameters.append(number: q.bytes, as: "rsa-factor2")
            parameters.append(number: dp.bytes, as: "rsa-exponent1")
            parameters.append(number: dq.bytes, as: "rsa-exponent2")
            parameters.append(number: qi.bytes, as: "rsa-coefficient1")
        case (.p256, .rsa), (.rsa, .p256):
            return nil
        }
        self.init(&parameters, kind: key.publicKey.kind, selection: openssl_shim_key_pair)
        // For RSA such a check would prove the factors prime, which takes milliseconds.
        if case (.p256(let point), .p256(let d)) = (key.publicKey, key.parts), !point.belongs(to: d) { return nil }
    }

    private convenience init?(_ parameters: inout KeyParameters, kind: StaticString, selection: Int32) {
        guard Library.isReady, let context = PKeyContext(kind: kind) else { return nil }
        var handle: OpaquePointer?
        let isMade =
            unsafe EVP_PKEY_fromdata_init(context.handle) == 1
            && parameters.withTerminatedList { unsafe EVP_PKEY_fromdata(context.handle, &handle, selection, $0) } == 1
        guard isMade, let handle = unsafe handle else { return nil }
        unsafe self.init(takingOwnershipOf: handle)
    }
}

/// An operation that is being prepared (`EVP_PKEY_CTX`), owned.
@safe struct PKeyContext: ~Copyable {
    let handle: OpaquePointer

    init?(kind: StaticString) {
        guard let handle = unsafe EVP_PKEY_CTX_new_from_name(nil, kind.characters, nil) else { return nil }
        unsafe self.handle = handle
    }

    init?(key: PKey) {
        guard let handle = unsafe EVP_PKEY_CTX_new(key.handle, nil) else { return nil }
        unsafe self.handle = handle
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(handle)
    }
}

extension PublicKey {
    /// OpenSSL's name for the kind of key.
    fileprivate var kind: StaticString {
        switch self {
        case .rsa: "RSA"
        case .p256: "EC"
        }
    }
}
