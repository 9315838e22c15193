internal import JOSE

extension PublicKey.RSA {
    /// The key as SubjectPublicKeyInfo (RFC 5280 §4.1, RFC 8017 A.1) in PEM (RFC 7468 §13): the form in which a confused
    /// verifier would take it for an HMAC secret.
    var pem: String {
        let key = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
        // rsaEncryption, 1.2.840.113549.1.1.1, with NULL parameters
        let algorithm: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
        let info = DER.sequence(DER.sequence(algorithm) + DER.element(0x03, [0] + key))
        let base64 = Base64URL.encode(info).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let padded = base64 + Array(repeating: "=", count: (4 - base64.count % 4) % 4)
        let lines = stride(from: 0, to: padded.count, by: 64).map { String(padded[$0..<min($0 + 64, padded.count)]) }
        return (["-----BEGIN PUBLIC KEY-----"] + lines + ["-----END PUBLIC KEY-----", ""]).joined(separator: "\n")
    }
}

/// As much of DER (X.690) as a public key is written with.
private enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }

    static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

    /// Not negative: a zero byte goes before a set top bit.
    static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        element(0x02, (magnitude.first ?? 0) & 0x80 == 0 ? magnitude : [0] + magnitude)
    }
}
