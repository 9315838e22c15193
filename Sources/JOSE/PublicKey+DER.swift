extension PublicKey.RSA {
    /// `RSAPublicKey` in DER (RFC 8017 §A.1.1), as Apple's Security framework reads keys.
    package var der: [UInt8] {
        Self.element(0x30, Self.integer(modulus) + Self.integer(exponent))
    }

    /// Big-endian and without leading zeros; one goes in front where the first bit would be a sign (X.690 §8.3).
    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        element(2, bytes[0] & 0x80 == 0 ? bytes : [0] + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
