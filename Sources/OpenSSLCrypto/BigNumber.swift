internal import OpenSSLShim

/// A number of libcrypto's (`BIGNUM`), owned, and scrubbed when it goes: it may be part of a private key.
@safe struct BigNumber: ~Copyable {
    let handle: OpaquePointer

    init?(_ bytes: ArraySlice<UInt8>) {
        let handle = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe BN_bin2bn(bytes.baseAddress, Int32(bytes.count), nil)
        }
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    init?(of key: PKey, named name: String) {
        var handle: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key.handle, name, &handle) == 1, let handle = unsafe handle else {
            return nil
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe BN_clear_free(handle)
    }

    /// Big-endian; filled with zeros in front to `count` bytes, or as short as can be. Nil when it does not fit.
    func bytes(count: Int?) -> [UInt8]? {
        unsafe Self.bytes(of: handle, count: count)
    }

    static func bytes(of handle: OpaquePointer, count: Int?) -> [UInt8]? {
        let count = count ?? Int(unsafe BN_num_bits(handle) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe BN_bn2binpad(handle, &bytes, Int32(count)) == Int32(count) else { return nil }
        return bytes
    }

    /// Gives the number away; whoever takes the handle frees it.
    consuming func release() -> OpaquePointer {
        let handle = unsafe self.handle
        discard self
        return unsafe handle
    }
}
