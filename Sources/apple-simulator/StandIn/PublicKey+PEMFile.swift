internal import JOSE

extension PublicKey.P256 {
    /// The public key of a PEM text: SubjectPublicKeyInfo (RFC 5280 §4.1), or the public half that a private key brings along,
    /// as Apple's `.p8` files (PKCS #8, RFC 5958) and `openssl ecparam -genkey` (RFC 5915) do. The private half is not looked at.
    init?(pem text: String) {
        for name in ["PUBLIC KEY", "PRIVATE KEY", "EC PRIVATE KEY"] {
            guard let bytes = Self.content(of: text, between: name), let key = Self(der: bytes) else { continue }
            self = key
            return
        }
        return nil
    }

    private static func content(of text: String, between name: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        let marks = ["BEGIN", "END"].map { "-----\($0)\(name.filter { $0 != " " })-----" }
        guard let begin = lines.firstIndex(of: marks[0]),
            let end = lines[begin...].firstIndex(of: marks[1])
        else { return nil }
        let base64 = lines[(begin + 1)..<end].joined()
        let characters = base64.utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        return Base64URL.decode(characters[...])
    }

    /// The point is where a BIT STRING (tag 3) of 66 bytes says that it is uncompressed (SEC 1 §2.3.3), in all three forms; the
    /// curve must have been named before it.
    private init?(der: [UInt8]) {
        // 1.2.840.10045.3.1.7
        let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let point: [UInt8] = [0x03, 0x42, 0x00, 0x04]
        guard let named = Self.index(of: curve, in: der[...]), let start = Self.index(of: point, in: der[named...])
        else { return nil }
        let coordinates = der[(start + point.count)...].prefix(64)
        self.init(x: Array(coordinates.prefix(32)), y: Array(coordinates.dropFirst(32)))
    }

    private static func index(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: pattern) }
    }
}
