/// Where in a JSON string the characters end that stand for themselves (RFC 8259 §7), found eight bytes at a time: nearly all of
/// what is read and written is in strings, and a test for each byte took an eighth of the function's own time.
extension ArraySlice<UInt8> {
    /// The index of the first byte, from `index` on, that must be escaped: a quotation mark, a reverse solidus, a control
    /// character. The end if there is none.
    func firstEscaped(from index: Int) -> Int {
        startIndex + span.first(from: index - startIndex, where: JSONCharacters.escaped)
    }

    /// The same, or of the first byte that is not ASCII.
    func firstEscapedOrWide(from index: Int) -> Int {
        startIndex
            + span.first(from: index - startIndex) { JSONCharacters.escaped(in: $0) | $0 & JSONCharacters.highBits }
    }
}

extension Span<UInt8> {
    /// The position of the first byte whose high bit is set in what `found` makes of the eight bytes that it is among. `found` says
    /// nothing of spaces, and may be in error on the bytes above the first one.
    @inline(__always)
    fileprivate func first(from position: Int, where found: (_ word: UInt64) -> UInt64) -> Int {
        var position = position
        while count - position >= 8 {
            let found = found(word(at: position))
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        // What is left over, with spaces behind it.
        var word = JSONCharacters.spaces
        for index in (position..<count).reversed() { word = word << 8 | UInt64(self[index]) }
        return Swift.min(position + found(word).trailingZeroBitCount / 8, count)
    }

    /// Eight bytes, the first one lowest. The compiler makes one load of it.
    @inline(__always)
    private func word(at position: Int) -> UInt64 {
        let eight = extracting(position..<position + 8)
        var word: UInt64 = 0
        for index in 0..<8 { word |= UInt64(eight[index]) &<< UInt64(8 &* index) }
        return word
    }
}

private enum JSONCharacters {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    static let spaces: UInt64 = 0x2020_2020_2020_2020

    /// The high bit of each byte that must be escaped. A byte that is one borrows from those above it, in which the bit may be set
    /// in error.
    static func escaped(in word: UInt64) -> UInt64 {
        let quotationMark = (word ^ ones &* UInt64(UInt8(ascii: "\""))) &- ones
        let reverseSolidus = (word ^ ones &* UInt64(UInt8(ascii: "\\"))) &- ones
        let control = word &- spaces
        return (quotationMark | reverseSolidus | control) & ~word & highBits
    }
}
