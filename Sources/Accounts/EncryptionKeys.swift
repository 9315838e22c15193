internal import JOSE

/// The keys that seal what must be given back later, and so cannot be kept as a digest: Apple's refresh tokens.
///
/// The first seals, all open. A key is rotated by putting a new one in front, and taken away once nothing is sealed under it.
package struct EncryptionKeys: Sendable {
    package struct Entry: Sendable {
        package let id: String
        /// 32 bytes, for AES-256.
        let key: SecretBytes
    }

    /// At least one, and no id twice.
    package let entries: [Entry]

    /// The key that seals.
    var sealing: Entry { entries[0] }

    /// The id of the key that seals: what is sealed under another is due to be sealed anew.
    package var sealingID: String { sealing.id }

    subscript(id: String) -> SecretBytes? {
        entries.first { $0.id.isIdentical(to: id) }?.key
    }

    /// Why a text is not a list of keys; the words are for the operator and hold nothing of it, not even an id, since somebody may
    /// have put the key in its place.
    package struct Refusal: Error, Hashable {
        package var reason: String
    }

    /// Reads `ID:BASE64` one or more times, separated by commas, blanks or line ends. An id is 1 to 32 letters, digits, full
    /// stops, underscores or hyphens; a key is 32 bytes as base64 or base64url, padded or not.
    package init(parsing text: String) throws(Refusal) {
        var entries: [Entry] = []
        for (index, word) in text.utf8.split(whereSeparator: Self.separates).enumerated() {
            let number = index + 1
            guard let colon = word.firstIndex(of: UInt8(ascii: ":")) else {
                throw Refusal(reason: "key \(number) is not an id, a colon and the key in base64")
            }
            guard let id = Self.id(word[..<colon]) else {
                throw Refusal(
                    reason:
                        "key \(number) has an id that is not 1 to 32 letters, digits, full stops, underscores or hyphens"
                )
            }
            guard let bytes = Base64URL.decode(pasted: Array(word[colon...].dropFirst())[...]) else {
                throw Refusal(reason: "key \(number) is not base64")
            }
            guard bytes.count == 32 else {
                throw Refusal(reason: "key \(number) is \(bytes.count) bytes long and not 32")
            }
            guard !entries.contains(where: { $0.id.isIdentical(to: id) }) else {
                throw Refusal(reason: "key \(number) has the id of a key before it")
            }
            entries.append(Entry(id: id, key: SecretBytes(bytes)))
        }
        guard !entries.isEmpty else { throw Refusal(reason: "holds no key") }
        self.entries = entries
    }

    private static func separates(_ byte: UInt8) -> Bool {
        [UInt8(ascii: ","), UInt8(ascii: " "), 0x09, 0x0A, 0x0D].contains(byte)
    }

    private static func id(_ bytes: Substring.UTF8View) -> String? {
        let isGood =
            (1...32).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return isGood ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
