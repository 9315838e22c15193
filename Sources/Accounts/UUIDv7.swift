package import JOSE

/// A time-ordered identifier (RFC 9562 §5.7), as its canonical text: new rows go to the end of an index, and an id says
/// when it was made.
package struct UUIDv7: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// - Parameter random: 10 bytes from the secure generator.
    package init(at time: UnixTime, random: [UInt8]) {
        precondition(random.count == 10, "RFC 9562 §5.7 wants 74 random bits")
        let milliseconds = UInt64(max(0, time.milliseconds))
        var bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * $0)) } + random
        bytes[6] = bytes[6] & 0x0F | 0x70
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.bytes = bytes
    }

    /// Any UUID's 16 bytes, as they come back from a store or a token.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// The canonical text of RFC 9562 §4: lower case, hyphens at their places, and no other spelling.
    package init?(_ text: String) {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var bytes: [UInt8] = []
        var index = 0
        while index < 36 {
            if [8, 13, 18, 23].contains(index) {
                guard characters[index] == UInt8(ascii: "-") else { return nil }
                index += 1
            }
            guard let high = Self.value(characters[index]), let low = Self.value(characters[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
            index += 2
        }
        self.bytes = bytes
    }

    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(Hexadecimal.digit(byte >> 4))
            text.append(Hexadecimal.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
