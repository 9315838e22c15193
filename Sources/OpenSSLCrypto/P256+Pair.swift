internal import JOSE
internal import OpenSSLShim

extension PublicKey.P256 {
    /// Whether this is the point of the secret scalar `d`, which lies in 1..<n (SEC 1, §3.2.1).
    ///
    /// `EVP_PKEY_pairwise_check` asks the same, and multiplies the point by the order of the curve as well: that says nothing on
    /// a curve whose cofactor is one, and is most of its price. A key is checked whenever a process starts.
    func belongs(to d: SecretBytes) -> Bool {
        guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return false }
        defer { unsafe EC_GROUP_free(group) }
        guard let point = unsafe EC_POINT_new(group), let scalar = BigNumber(d.bytes[...]) else { return false }
        defer { unsafe EC_POINT_free(point) }
        guard unsafe BN_cmp(scalar.handle, EC_GROUP_get0_order(group)) < 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: uncompressed.count)
        // The point at infinity, which is that of the scalar zero, is written as one byte.
        return unsafe EC_POINT_mul(group, point, scalar.handle, nil, nil, nil) == 1
            && EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil) == bytes.count
            && bytes == uncompressed
    }
}
