/// base64url without padding, strictly (RFC 7515 §2, RFC 4648 §5).
///
/// A lenient decoder gives one token many spellings, and with them a way around whatever remembers tokens by their
/// text. So there is exactly one spelling: no padding, no white space, no other alphabet, unused bits zero.
package enum Base64URL {
    /// The bytes, or nil when the text is not the one canonical spelling of any bytes.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var pending = 0
        for character in text {
            guard let sextet = sextet(of: character) else { return nil }
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
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var pending = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            pending += 8
            while pending >= 6 {
                pending -= 6
                text.append(character(of: UInt8(truncatingIfNeeded: bits >> UInt32(pending)) & 0x3F))
            }
        }
        if pending > 0 {
            text.append(character(of: UInt8(truncatingIfNeeded: bits << UInt32(6 - pending)) & 0x3F))
        }
        return text
    }

    package static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
        encodedBytes(bytes[...])
    }

    private static func sextet(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func character(of sextet: UInt8) -> UInt8 {
        switch sextet {
        case 0..<26: UInt8(ascii: "A") + sextet
        case 26..<52: UInt8(ascii: "a") + sextet - 26
        case 52..<62: UInt8(ascii: "0") + sextet - 52
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }
}
