/// Why a text is not JSON for us. Offsets are in bytes; no part of the text is ever repeated in the error.
package enum JSONError: Error, Hashable {
    case tooLarge
    case tooDeep
    case syntax(offset: Int)
    case invalidUTF8(offset: Int)
    case duplicateName(offset: Int)
}

extension JSON {
    /// How much the reader takes. Depth is the number of arrays and objects around a value.
    package struct Limits: Sendable {
        package var bytes: Int
        package var depth: Int

        package init(bytes: Int, depth: Int = 32) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// Reads one JSON text, strictly: RFC 8259 to the letter, UTF-8 without a mark, and no two members of one name,
    /// because two readers that disagree on which one counts are how a signed token says two things.
    package init(parsing bytes: ArraySlice<UInt8>, limits: Limits) throws(JSONError) {
        guard bytes.count <= limits.bytes else { throw .tooLarge }
        var reader = JSONReader(bytes: bytes, depthLimit: limits.depth)
        self = try reader.readText()
    }

    package init(parsing bytes: [UInt8], limits: Limits) throws(JSONError) {
        try self.init(parsing: bytes[...], limits: limits)
    }
}

private struct JSONReader {
    let bytes: ArraySlice<UInt8>
    let depthLimit: Int
    var position: Int
    var depth = 0

    init(bytes: ArraySlice<UInt8>, depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
        position = bytes.startIndex
    }

    var next: UInt8? {
        position < bytes.endIndex ? bytes[position] : nil
    }

    var offset: Int {
        position - bytes.startIndex
    }

    mutating func readText() throws(JSONError) -> JSON {
        let value = try readValue()
        guard next == nil else { throw .syntax(offset: offset) }
        return value
    }

    /// A value with the white space around it.
    private mutating func readValue() throws(JSONError) -> JSON {
        skipWhiteSpace()
        let value: JSON
        switch next {
        case UInt8(ascii: "{"): value = .object(try readObject())
        case UInt8(ascii: "["): value = .array(try readArray())
        case UInt8(ascii: "\""): value = .string(try readString())
        case UInt8(ascii: "t"): value = try readLiteral("true", .bool(true))
        case UInt8(ascii: "f"): value = try readLiteral("false", .bool(false))
        case UInt8(ascii: "n"): value = try readLiteral("null", .null)
        default: value = try readNumber()
        }
        skipWhiteSpace()
        return value
    }

    private mutating func skipWhiteSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard take(character) else { throw .syntax(offset: offset) }
    }

    private mutating func readLiteral(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let count = text.utf8CodeUnitCount
        guard bytes.endIndex - position >= count, bytes[position..<position + count].elementsEqual("\(text)".utf8)
        else { throw .syntax(offset: offset) }
        position += count
        return value
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= depthLimit else { throw .tooDeep }
        position += 1
        skipWhiteSpace()
    }

    private mutating func readArray() throws(JSONError) -> [JSON] {
        try enter()
        defer { depth -= 1 }
        var elements: [JSON] = []
        if take("]") { return elements }
        repeat {
            elements.append(try readValue())
        } while take(",")
        try expect("]")
        return elements
    }

    private mutating func readObject() throws(JSONError) -> JSON.Object {
        try enter()
        defer { depth -= 1 }
        var members: [JSON.Object.Member] = []
        if take("}") { return JSON.Object() }
        var names: Set<[UInt8]> = []
        repeat {
            skipWhiteSpace()
            let start = offset
            guard next == UInt8(ascii: "\"") else { throw .syntax(offset: offset) }
            let name = try readString()
            // Few members are the rule: a set pays only beyond them.
            let isDuplicate: Bool
            if members.count < 16 {
                isDuplicate = members.contains { $0.name.isIdentical(to: name) }
            } else {
                if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
                isDuplicate = !names.insert(Array(name.utf8)).inserted
            }
            guard !isDuplicate else { throw .duplicateName(offset: start) }
            skipWhiteSpace()
            try expect(":")
            members.append(JSON.Object.Member(name: name, value: try readValue()))
        } while take(",")
        try expect("}")
        return JSON.Object(uniqueMembers: members)
    }

    // MARK: Numbers

    private mutating func readNumber() throws(JSONError) -> JSON {
        let start = position
        _ = take("-")
        let integerStart = position
        try readDigits()
        if bytes[integerStart] == UInt8(ascii: "0"), position - integerStart > 1 {
            throw .syntax(offset: integerStart - bytes.startIndex)
        }
        var isInteger = true
        if take(".") {
            isInteger = false
            try readDigits()
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try readDigits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // Minus zero is not the integer 0: writing it back would lose its sign.
        if isInteger, text != "-0", let integer = Int64(text) { return .integer(integer) }
        return .decimal(text)
    }

    private mutating func readDigits() throws(JSONError) {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw .syntax(offset: offset) }
    }

    // MARK: Strings

    private mutating func readString() throws(JSONError) -> String {
        position += 1
        var start = position
        // What came before the last escape. Mostly there is none, and the string is a slice of the input.
        var text: [UInt8] = []
        while try skipToEndOrEscape() == UInt8(ascii: "\\") {
            text.append(contentsOf: bytes[start..<position])
            position += 1
            try readEscape(into: &text)
            start = position
        }
        let rest = bytes[start..<position]
        position += 1
        if text.isEmpty { return String(decoding: rest, as: UTF8.self) }
        text.append(contentsOf: rest)
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes the characters that stand for themselves. The byte that comes next is `"` or `\`, and is returned.
    private mutating func skipToEndOrEscape() throws(JSONError) -> UInt8 {
        while true {
            position = bytes.firstEscapedOrWide(from: position)
            guard let byte = next else { throw .syntax(offset: offset) }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
            case 0..<0x20: throw .syntax(offset: offset)
            default: try skipScalar(byte)
            }
        }
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw .syntax(offset: offset) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: UTF8.encode(try readEscapedScalar()) ?? .init())
        default: throw .syntax(offset: offset - 1)
        }
    }

    /// `\uXXXX`, or the pair of them that stands for a scalar beyond the first plane. A surrogate alone is refused: no
    /// UTF-8 text can carry it, so accepting it would change what was signed.
    private mutating func readEscapedScalar() throws(JSONError) -> Unicode.Scalar {
        let start = offset
        let unit = try readHexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take("\\"), take("u") else { throw .syntax(offset: start) }
        let low = try readHexUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw .syntax(offset: start) }
        let value = 0x10000 + (UInt32(unit - 0xD800) << 10 | UInt32(low - 0xDC00))
        guard let scalar = Unicode.Scalar(value) else { throw .syntax(offset: start) }
        return scalar
    }

    private mutating func readHexUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Hexadecimal.value) else { throw .syntax(offset: offset) }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Passes one scalar beyond ASCII, of well-formed UTF-8 (Unicode, table 3-7).
    private mutating func skipScalar(_ lead: UInt8) throws(JSONError) {
        let second: ClosedRange<UInt8>
        let count: Int
        switch lead {
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE, 0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: throw .invalidUTF8(offset: offset)
        }
        guard bytes.endIndex - position >= count, second.contains(bytes[position + 1]),
            bytes[(position + 2)..<(position + count)].allSatisfy({ (0x80...0xBF).contains($0) })
        else { throw .invalidUTF8(offset: offset) }
        position += count
    }
}
