package import JOSE
internal import OpenSSLShim

/// Private keys as files have them.
extension OpenSSLCryptography {
    package func privateKey(der: ArraySlice<UInt8>) throws(PrivateKeyFault) -> PrivateKey {
        Library.require()
        defer { Library.forgetErrors() }
        guard let length = DERSequence.length(of: der), length <= der.count else { throw .truncated }
        // libcrypto would pass over what follows the key.
        guard length == der.count else { throw .unreadable }
        guard let key = PKey(der: der) else { throw DERSequence.fault(of: der) }
        guard unsafe EVP_PKEY_is_a(key.handle, "EC") == 1 else {
            throw unsafe EVP_PKEY_is_a(key.handle, "RSA") == 1 ? .rsa : .otherKind
        }
        guard key.groupName == "prime256v1" else { throw .curve }
        // Made once more from its parts, the way in which it will be made to sign, and checked as a pair there.
        guard let parts = try? key.privateKey(for: .es256), PKey(parts) != nil else { throw .notPair }
        return parts
    }
}

extension PKey {
    /// Nil unless it is a private key, not encrypted, of whatever kind.
    fileprivate convenience init?(der: ArraySlice<UInt8>) {
        let handle = unsafe DERSequence.read(der, by: { unsafe d2i_AutoPrivateKey(nil, $0, $1) })
        guard let handle = unsafe handle else { return nil }
        unsafe self.init(takingOwnershipOf: handle)
    }

    fileprivate var groupName: String? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1 else { return nil }
        return String(decoding: name[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The outermost element of a key or certificate, and what it may be other than a private key.
private enum DERSequence {
    /// How many bytes the element takes by its own word (X.690 §8.1), or nil when that word itself is cut off. Zero when it is
    /// no sequence at all.
    static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        let head = Array(bytes.prefix(6))
        guard head.first == 0x30 else { return 0 }
        guard head.count > 1 else { return nil }
        guard head[1] & 0x80 != 0 else { return 2 + Int(head[1]) }
        let digits = Int(head[1] & 0x7F)
        guard (1...4).contains(digits) else { return 0 }
        guard head.count >= 2 + digits else { return nil }
        return head[2..<(2 + digits)].reduce(0) { $0 << 8 | Int($1) } + 2 + digits
    }

    static func fault(of bytes: ArraySlice<UInt8>) -> PrivateKeyFault {
        if let key = unsafe read(bytes, by: { unsafe d2i_PUBKEY(nil, $0, $1) }) {
            unsafe EVP_PKEY_free(key)
            return .publicKey
        }
        if let certificate = unsafe read(bytes, by: { unsafe d2i_X509(nil, $0, $1) }) {
            unsafe X509_free(certificate)
            return .certificate
        }
        // `EncryptedPrivateKeyInfo` (RFC 5958 §3) has the shape of `X509_SIG`: an algorithm and octets.
        if let encrypted = unsafe read(bytes, by: { unsafe d2i_X509_SIG(nil, $0, $1) }) {
            unsafe X509_SIG_free(encrypted)
            return .encrypted
        }
        return .unreadable
    }

    /// What one of libcrypto's `d2i` functions makes of the bytes.
    static func read(
        _ bytes: ArraySlice<UInt8>, by decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return unsafe decode(&position, bytes.count)
        }
    }
}
