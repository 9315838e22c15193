package import JOSE
internal import OpenSSLShim

/// `Cryptography` by OpenSSL's libcrypto, 3.0 or newer.
///
/// Made for a process that lives for one request: the library starts without reading its configuration, and randomness
/// comes from the kernel. Any thread may use it, and any number of values of it are one and the same.
package struct OpenSSLCryptography: Cryptography {
    private static let publicKeys = RecentKeys(capacity: 8)
    private static let privateKeys = RecentKeys(capacity: 4)

    package init() {}

    package func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey,
        algorithm: SignatureAlgorithm
    ) -> Bool {
        Library.require()
        guard algorithm == key.algorithm else { return false }
        return Library.affirmed { verified(signature, over: message, by: key) } != nil
    }

    private func verified(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey
    ) -> Void? {
        guard let pkey = Self.publicKeys.key(for: .publicKey(key)) else { return nil }
        let isValid =
            switch key.algorithm {
            case .rs256: pkey.isValid(signature, over: message)
            case .es256: ECDSASignature(raw: signature)?.der.map { pkey.isValid($0[...], over: message) } ?? false
            }
        // A key for which the memory did not quite suffice is a wrong one ever after.
        if !isValid { Self.publicKeys.forget(.publicKey(key)) }
        return isValid ? () : nil
    }

    package func sign(_ message: ArraySlice<UInt8>, with key: PrivateKey) throws(CryptographyError) -> [UInt8] {
        guard let pkey = Self.privateKeys.key(for: .privateKey(key)) else {
            throw Library.error("read the signing key")
        }
        guard let signature = pkey.signature(over: message) else { throw Library.error("sign") }
        switch key.algorithm {
        case .rs256:
            return signature
        case .es256:
            guard let raw = ECDSASignature(der: signature)?.raw else { throw Library.error("sign") }
            return raw
        }
    }

    package func generateKey(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PrivateKey {
        try PKey.generate(for: algorithm).privateKey(for: algorithm)
    }

    package func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Library.require()
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, Library.sha256, nil)
        }
        // As in `Library.require`: no digest at all is better than one of zeros.
        guard isDone == 1 else { fatalError("SHA-256 failed") }
        return digest
    }

    package func hmacSHA256(_ message: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> [UInt8] {
        Library.require()
        var code = [UInt8](repeating: 0, count: 32)
        let result = unsafe key.withUnsafeBufferPointer { key in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe HMAC(
                    Library.sha256, key.baseAddress, Int32(key.count), message.baseAddress, message.count, &code, nil)
            }
        }
        guard unsafe result != nil else { fatalError("HMAC-SHA-256 failed") }
        return code
    }

    package func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe openssl_shim_random(&bytes, count) == 1 else {
            throw CryptographyError("random bytes: the system gives none")
        }
        return bytes
    }

    package func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }
}
