/// One block of PEM (RFC 7468 §2): what stands between its two lines. Text around blocks is commentary (§5.2).
///
/// Found by bytes: the search for text that Swift has would bring a whole library into the program.
struct PEMBlock {
    let label: String
    let content: String

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    static func begins(in bytes: [UInt8]) -> Bool {
        position(of: begin, in: bytes[...]) != nil
    }

    static func all(in text: String) throws(PrivateKeyRefusal) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var rest = Array(text.utf8)[...]
        while let begin = position(of: begin, in: rest) {
            let label = rest[(begin + Self.begin.count)...]
            guard let endOfLabel = position(of: dashes, in: label) else { throw .truncated }
            let content = label[(endOfLabel + dashes.count)...]
            let last = end + label[..<endOfLabel] + dashes
            guard let endOfContent = position(of: last, in: content) else { throw .truncated }
            blocks.append(
                PEMBlock(
                    label: String(decoding: label[..<endOfLabel], as: UTF8.self),
                    content: String(decoding: content[..<endOfContent], as: UTF8.self)))
            rest = content[(endOfContent + last.count)...]
        }
        // The end of a block whose beginning was not copied.
        guard position(of: end, in: rest) == nil else { throw .truncated }
        return blocks
    }

    func requireKey() throws(PrivateKeyRefusal) {
        // The older way of encrypting (RFC 1421 §4.6.1.1) says so inside the block.
        let isEncrypted = Self.position(of: Array("ENCRYPTED".utf8), in: Array(content.utf8)[...]) != nil
        guard label != "ENCRYPTED PRIVATE KEY", !isEncrypted else { throw .encrypted }
        switch label {
        case "PRIVATE KEY", "EC PRIVATE KEY": break
        case "RSA PRIVATE KEY": throw .rsa
        case "PUBLIC KEY", "EC PUBLIC KEY", "RSA PUBLIC KEY": throw .publicKey
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": throw .certificate
        default: throw .otherKind
        }
    }

    private static func position(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: pattern) }
    }
}
