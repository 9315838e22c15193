/// base64url without padding, strictly (RFC 7515 §2, RFC 4648 §5).
///
/// A lenient decoder gives one token many spellings, and with them a way around whatever remembers tokens by their
/// text. So there is exactly one spelling: no padding, no white space, no other alphabet, unused bits zero.
package enum Base64URL {
    /// RFC 4648 §5, table 2. Looked up and not compared with ranges: what is encoded is as good as random, and a processor that
    /// guesses such a branch is wrong so often that the text takes five times as long (measured).
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The place of each byte in the alphabet; 64 for one that is not in it.
    private static let places: [UInt8] = {
        var places = [UInt8](repeating: 64, count: 256)
        for (place, character) in alphabet.enumerated() { places[Int(character)] = UInt8(place) }
        return places
    }()

    /// The bytes, or nil when the text is not the one canonical spelling of any bytes.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        let places = places
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var pending = 0
        for character in text {
            let sextet = places[Int(character)]
            guard sextet < 64 else { return nil }
            bits = bits << 6 | UInt32(sextet)
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
            }
        }
        // RFC 4648 §3.5: the bits left over must be zero, or two texts would decode alike.
        guard bits & ((1 << UInt32(pending)) - 1) == 0 else { return nil }
        return bytes
    }

    package static func decode(_ text: String) -> [UInt8]? {
        decode(ArraySlice(text.utf8))
    }

    package static func encode(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: encodedBytes(bytes), as: UTF8.self)
    }

    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes[...])
    }

    /// The same text as ASCII bytes, for building a token in one buffer.
    package static func encodedBytes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let alphabet = alphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var pending = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            pending += 8
            while pending >= 6 {
                pending -= 6
                text.append(alphabet[Int(bits >> UInt32(pending)) & 0x3F])
            }
        }
        if pending > 0 {
            text.append(alphabet[Int(bits << UInt32(6 - pending)) & 0x3F])
        }
        return text
    }

    package static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
        encodedBytes(bytes[...])
    }
}
