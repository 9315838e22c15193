package import JOSE
internal import OpenSSLShim

/// Encryption that also proves where a text comes from: AES-256-GCM (NIST SP 800-38D), with a nonce of 96 random bits (§8.2.2)
/// and the whole tag of 128.
///
/// A nonce must never come twice under one key. Drawn at random that is safe for 2³² texts (§8.3); here a key seals one answer, or
/// one refresh token of Apple's for each code that was exchanged while it was the first.
extension OpenSSLCryptography {
    package func seal(
        _ plaintext: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) throws(CryptographyError) -> [UInt8] {
        let nonce = try randomBytes(GCM.nonceBytes)
        guard let context = CipherContext(.seal, key: key, nonce: nonce[...]), context.authenticate(associatedData),
            let ciphertext = context.update(plaintext), context.finish(), let tag = context.tag
        else { throw Library.error("seal") }
        return nonce + ciphertext + tag
    }

    package func open(
        _ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) -> [UInt8]? {
        guard sealed.count >= GCM.nonceBytes + GCM.tagBytes else { return nil }
        return Library.affirmed { opened(sealed, key: key, associatedData: associatedData) }
    }

    private func opened(
        _ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) -> [UInt8]? {
        let ciphertext = sealed.dropFirst(GCM.nonceBytes).dropLast(GCM.tagBytes)
        // What was decrypted leaves this function only when the tag is right.
        guard let context = CipherContext(.open, key: key, nonce: sealed.prefix(GCM.nonceBytes)),
            context.expect(tag: sealed.suffix(GCM.tagBytes)), context.authenticate(associatedData),
            let plaintext = context.update(ciphertext), context.finish()
        else { return nil }
        return plaintext
    }
}

private enum GCM {
    static let keyBytes = 32
    static let nonceBytes = 12
    static let tagBytes = 16

    /// Fetched once and kept for the life of the process.
    nonisolated(unsafe) static let cipher: OpaquePointer = unsafe Library.kept(
        EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
}

/// AES-256-GCM at work (`EVP_CIPHER_CTX`), owned; libcrypto scrubs the key when it goes.
@safe private struct CipherContext: ~Copyable {
    enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    private let handle: OpaquePointer

    /// Nil for a key or a nonce of another length, which libcrypto would read beyond.
    init?(_ direction: Direction, key: SecretBytes, nonce: ArraySlice<UInt8>) {
        guard key.bytes.count == GCM.keyBytes, nonce.count == GCM.nonceBytes,
            let handle = unsafe EVP_CIPHER_CTX_new()
        else { return nil }
        let isReady = unsafe key.bytes.withUnsafeBufferPointer { key in
            unsafe nonce.withUnsafeBufferPointer { nonce in
                unsafe EVP_CipherInit_ex2(
                    handle, GCM.cipher, key.baseAddress, nonce.baseAddress, direction.rawValue, nil)
            }
        }
        guard isReady == 1 else {
            unsafe EVP_CIPHER_CTX_free(handle)
            return nil
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(handle)
    }

    /// Takes in what is not encrypted and belongs to the text all the same; before the text.
    func authenticate(_ data: ArraySlice<UInt8>) -> Bool {
        guard let length = Int32(exactly: data.count) else { return false }
        var count: Int32 = 0
        return unsafe data.withUnsafeBufferPointer { data in
            unsafe data.isEmpty || EVP_CipherUpdate(handle, nil, &count, data.baseAddress, length) == 1
        }
    }

    /// Encrypts or decrypts; GCM gives as many bytes as it is given.
    func update(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let length = Int32(exactly: text.count) else { return nil }
        var result = [UInt8](repeating: 0, count: text.count)
        var count: Int32 = 0
        let isDone = unsafe text.withUnsafeBufferPointer { text in
            unsafe text.isEmpty || EVP_CipherUpdate(handle, &result, &count, text.baseAddress, length) == 1
        }
        return isDone && count == length ? result : nil
    }

    /// Ends the work; when opening, it succeeds only if the tag is the one expected.
    func finish() -> Bool {
        var nothing: UInt8 = 0
        var count: Int32 = 0
        return unsafe EVP_CipherFinal_ex(handle, &nothing, &count) == 1
    }

    var tag: [UInt8]? {
        var tag = [UInt8](repeating: 0, count: GCM.tagBytes)
        return unsafe EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_GET_TAG, Int32(GCM.tagBytes), &tag) == 1 ? tag : nil
    }

    func expect(tag: ArraySlice<UInt8>) -> Bool {
        var tag = Array(tag)
        return unsafe EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }
}
