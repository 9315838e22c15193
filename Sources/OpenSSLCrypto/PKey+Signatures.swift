internal import OpenSSLShim

extension PKey {
    /// Whether `signature`, in OpenSSL's own form, is this key's over the message. RSA is PKCS #1 v1.5 unless told
    /// otherwise (EVP_PKEY-RSA(7)), as RS256 wants it.
    func isValid(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>) -> Bool {
        guard let context = DigestContext(),
            unsafe EVP_DigestVerifyInit(context.handle, nil, Library.sha256, nil, handle) == 1
        else { return false }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context.handle, signature.baseAddress, signature.count, message.baseAddress, message.count)
            }
        } == 1
    }

    /// A signature in OpenSSL's own form. Nil when the library fails.
    func signature(over message: ArraySlice<UInt8>) -> [UInt8]? {
        guard let context = DigestContext(),
            unsafe EVP_DigestSignInit(context.handle, nil, Library.sha256, nil, handle) == 1
        else { return nil }
        var count = Int(unsafe EVP_PKEY_get_size(handle))
        guard count > 0 else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        let isSigned = unsafe message.withUnsafeBufferPointer { message in
            unsafe EVP_DigestSign(context.handle, &signature, &count, message.baseAddress, message.count)
        }
        guard isSigned == 1 else { return nil }
        return Array(signature[..<count])
    }
}

/// A digest at work (`EVP_MD_CTX`), owned.
@safe struct DigestContext: ~Copyable {
    let handle: OpaquePointer

    init?() {
        guard let handle = unsafe EVP_MD_CTX_new() else { return nil }
        unsafe self.handle = handle
    }

    deinit {
        unsafe EVP_MD_CTX_free(handle)
    }
}
