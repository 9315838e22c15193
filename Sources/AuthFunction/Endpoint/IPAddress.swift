/// An IP address as its bytes: one address has one value, however it was written.
struct IPAddress: Hashable, CustomStringConvertible {
    /// 4 or 16 bytes. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address.
    let bytes: [UInt8]

    init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        guard text.contains(":") else {
            guard let bytes = Self.version4(text[...]) else { return nil }
            self.bytes = bytes
            return
        }
        guard let bytes = Self.version6(text) else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// Whose address it is, for counting: all of an IPv4 address, and the /64 of an IPv6 one, which is what a single
    /// subscriber has at least.
    var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes[..<8]) }

    /// RFC 5952 §4: the longest run of zeros, the first of several, is `::`, and no other.
    var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        let units = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var longest = 0..<0
        for start in units.indices {
            let run = start..<(units[start...].firstIndex { $0 != 0 } ?? units.endIndex)
            if run.count > max(longest.count, 1) { longest = run }
        }
        let text = { (units: ArraySlice<UInt16>) in units.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !longest.isEmpty else { return text(units[...]) }
        return "\(text(units[..<longest.lowerBound]))::\(text(units[longest.upperBound...]))"
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part -> UInt8? in
            // No leading zero: some readers take it for octal.
            guard part == "0" || !part.hasPrefix("0"), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return UInt8(part)
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func version6(_ text: String) -> [UInt8]? {
        var halves: [[UInt8]] = [[]]
        var rest = text[...]
        if rest.hasPrefix("::") {
            halves.append([])
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(group.count)
            if group.contains(".") {
                guard rest.isEmpty, let bytes = version4(group) else { return nil }
                halves[halves.count - 1] += bytes
            } else {
                // Digits alone: Swift also reads a sign.
                guard (1...4).contains(group.utf8.count), group.allSatisfy(\.isHexDigit),
                    let unit = UInt16(group, radix: 16)
                else { return nil }
                halves[halves.count - 1] += [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            }
            if rest.isEmpty { break }
            rest = rest.dropFirst()
            if rest.hasPrefix(":") {
                guard halves.count == 1 else { return nil }
                halves.append([])
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let count = halves.joined().count
        guard halves.count == 2 ? count <= 14 : count == 16 else { return nil }
        return halves[0] + [UInt8](repeating: 0, count: 16 - count) + (halves.count == 2 ? halves[1] : [])
    }
}
