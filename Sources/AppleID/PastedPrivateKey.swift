package import JOSE

/// The private key that Apple gave, a file `AuthKey_….p8`, in every form in which people paste it into a variable: with real
/// line ends of any kind or literal `\n`, on one line, in quotes, without its first and last line, as base64 of the whole
/// file, or rewritten by OpenSSL as SEC 1.
///
/// Text is cleaned here; the key itself is read by the cryptographic library.
package enum PastedPrivateKey {
    /// Bytes; a P-256 key takes some 250.
    private static let maximumSize = 16_384

    package static func read(
        _ text: String, using cryptography: any Cryptography
    ) throws(PrivateKeyRefusal) -> PrivateKey {
        let der = try der(in: text, mayBeEncoded: true)
        do throws(PrivateKeyFault) {
            return try cryptography.privateKey(der: der[...])
        } catch {
            throw PrivateKeyRefusal(error)
        }
    }

    private static func der(in pasted: String, mayBeEncoded: Bool) throws(PrivateKeyRefusal) -> [UInt8] {
        guard pasted.utf8.count <= maximumSize else { throw .tooLarge }
        let text = unwrapped(unescaped(pasted))
        guard !text.isEmpty else { throw .empty }
        guard !text.hasSuffix(".p8"), !text.hasSuffix(".pem") else { throw .fileName }
        let blocks = try PEMBlock.all(in: text)
        // `openssl ecparam -genkey` writes the name of the curve before the key.
        let keys = blocks.filter { $0.label != "EC PARAMETERS" }
        guard keys.count <= 1 else { throw .several }
        if let key = keys.first {
            try key.requireKey()
            return try base64(key.content)
        }
        guard blocks.isEmpty else { throw .unreadable }
        let bytes = try base64(text)
        // A sequence of DER begins with another byte than text can.
        guard mayBeEncoded, let inner = String(validating: bytes, as: UTF8.self), inner.contains("-----BEGIN ") else {
            return bytes
        }
        return try der(in: inner, mayBeEncoded: false)
    }

    /// Escapes of shells, `.env` files and JSON turned into what they stand for, however often they were escaped.
    private static func unescaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            rest = rest.drop { $0 == "\\" }
            switch rest.first {
            case "n", "r", "t":
                rest.removeFirst()
                result.append("\n")
            case "/", "\"", "'", "+", "=", nil:
                break
            case let next? where next.properties.isWhitespace:
                break
            case _?:
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Without white space, byte order marks and quotes around it.
    private static func unwrapped(_ text: String) -> String {
        func surrounds(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isWhitespace
                || "\u{FEFF}\"'`\u{201C}\u{201D}\u{2018}\u{2019}".unicodeScalars.contains(scalar)
        }
        var text = text.unicodeScalars.drop(while: surrounds)
        while let last = text.last, surrounds(last) { text.removeLast() }
        return String(text)
    }

    private static func base64(_ text: String) throws(PrivateKeyRefusal) -> [UInt8] {
        let characters = text.unicodeScalars.filter { !$0.properties.isWhitespace }.map(\.value)
        let bytes = characters.compactMap(UInt8.init(exactly:))
        guard !bytes.isEmpty else { throw .truncated }
        let body = bytes.prefix { $0 != UInt8(ascii: "=") }
        guard bytes.count == characters.count, bytes.count - body.count <= 2,
            bytes[body.count...].allSatisfy({ $0 == UInt8(ascii: "=") }), body.allSatisfy(isBase64)
        else { throw .unreadable }
        // All characters are good, so what is missing is the end.
        guard let decoded = Base64URL.decode(pasted: bytes[...]) else { throw .truncated }
        return decoded
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// One block of PEM (RFC 7468 §2): what stands between its two lines. Text around blocks is commentary (§5.2).
private struct PEMBlock {
    let label: String
    let content: String

    static func all(in text: String) throws(PrivateKeyRefusal) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var rest = text[...]
        while let begin = rest.firstRange(of: "-----BEGIN ") {
            guard let endOfLabel = rest[begin.upperBound...].firstRange(of: "-----") else { throw .truncated }
            let label = String(rest[begin.upperBound..<endOfLabel.lowerBound])
            guard let end = rest[endOfLabel.upperBound...].firstRange(of: "-----END \(label)-----") else {
                throw .truncated
            }
            blocks.append(PEMBlock(label: label, content: String(rest[endOfLabel.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        // The end of a block whose beginning was not copied.
        guard !rest.contains("-----END ") else { throw .truncated }
        return blocks
    }

    func requireKey() throws(PrivateKeyRefusal) {
        // The older way of encrypting (RFC 1421 §4.6.1.1) says so inside the block.
        guard label != "ENCRYPTED PRIVATE KEY", !content.contains("ENCRYPTED") else { throw .encrypted }
        switch label {
        case "PRIVATE KEY", "EC PRIVATE KEY": break
        case "RSA PRIVATE KEY": throw .rsa
        case "PUBLIC KEY", "EC PUBLIC KEY", "RSA PUBLIC KEY": throw .publicKey
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": throw .certificate
        default: throw .otherKind
        }
    }
}
