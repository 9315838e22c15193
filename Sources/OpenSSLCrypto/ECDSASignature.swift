internal import OpenSSLShim

/// An ECDSA signature over P-256 (`ECDSA_SIG`), owned: JWS writes it as the 64 bytes r‖s (RFC 7518 §3.4), libcrypto as DER.
@safe struct ECDSASignature: ~Copyable {
    private let handle: OpaquePointer

    /// Nil unless there are exactly 64 bytes. That r and s lie in 1..<n is for the verification to check, which does.
    init?(raw: ArraySlice<UInt8>) {
        guard raw.count == 64, let r = BigNumber(raw.prefix(32)), let s = BigNumber(raw.suffix(32)),
            let handle = unsafe ECDSA_SIG_new()
        else { return nil }
        // Takes both numbers; it fails only when one is missing (ECDSA_SIG_set0(3)).
        unsafe ECDSA_SIG_set0(handle, r.release(), s.release())
        unsafe self.handle = handle
    }

    init?(der: [UInt8]) {
        let handle = unsafe der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, der.count)
        }
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    deinit {
        unsafe ECDSA_SIG_free(handle)
    }

    var der: [UInt8]? {
        let count = unsafe i2d_ECDSA_SIG(handle, nil)
        guard count > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe der.withUnsafeMutableBufferPointer { der in
            var start = der.baseAddress
            return unsafe i2d_ECDSA_SIG(handle, &start)
        }
        return written == count ? der : nil
    }

    var raw: [UInt8]? {
        guard let r = unsafe ECDSA_SIG_get0_r(handle), let s = unsafe ECDSA_SIG_get0_s(handle),
            let r = unsafe BigNumber.bytes(of: r, count: 32), let s = unsafe BigNumber.bytes(of: s, count: 32)
        else { return nil }
        return r + s
    }
}
