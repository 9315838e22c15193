internal import JOSE

/// What DynamoDB keeps under a name, as it travels in JSON:
/// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
///
/// Texts are compared by their UTF-8 bytes and come back as they were; numbers here are 64-bit integers.
enum AttributeValue: Hashable, Sendable {
    case string(String)
    case number(Int64)
    case bytes([UInt8])
    case bool(Bool)
    case list([AttributeValue])
    case map(Item)

    var json: JSON {
        switch self {
        case .string(let text): .object(["S": .string(text)])
        case .number(let number): .object(["N": .string(String(number))])
        case .bytes(let bytes): .object(["B": .string(Base64.encode(bytes))])
        case .bool(let bool): .object(["BOOL": .bool(bool)])
        case .list(let values): .object(["L": .array(values.map(\.json))])
        case .map(let item): .object(["M": item.json])
        }
    }

    /// Nil for a kind that is never written here.
    init?(_ json: JSON) {
        guard let members = json.object?.members, members.count == 1, let member = members.first else { return nil }
        switch (member.name, member.value) {
        case ("S", .string(let text)): self = .string(text)
        case ("N", .string(let text)):
            guard let number = Int64(text) else { return nil }
            self = .number(number)
        case ("B", .string(let text)):
            guard let bytes = Base64.decode(text) else { return nil }
            self = .bytes(bytes)
        case ("BOOL", .bool(let bool)): self = .bool(bool)
        case ("L", .array(let elements)):
            let values = elements.compactMap { AttributeValue($0) }
            guard values.count == elements.count else { return nil }
            self = .list(values)
        case ("M", .object(let object)):
            guard let item = Item(.object(object)) else { return nil }
            self = .map(item)
        default: return nil
        }
    }
}

/// One row: values by their names. What is nil is not there.
struct Item: Hashable, Sendable {
    private(set) var values: [String: AttributeValue] = [:]

    init(_ values: [String: AttributeValue?] = [:]) {
        for (name, value) in values { self.values[name] = value }
    }

    init?(_ json: JSON) {
        guard let object = json.object else { return nil }
        for member in object.members {
            guard let value = AttributeValue(member.value) else { return nil }
            values[member.name] = value
        }
    }

    subscript(name: String) -> AttributeValue? {
        get { values[name] }
        set { values[name] = newValue }
    }

    var json: JSON {
        var object = JSON.Object()
        for (name, value) in values { object[name] = value.json }
        return .object(object)
    }

    func adding(_ more: Item) -> Item {
        var item = self
        item.values.merge(more.values) { $1 }
        return item
    }

    func string(_ name: String) -> String? {
        if case .string(let text)? = values[name] { text } else { nil }
    }

    func number(_ name: String) -> Int64? {
        if case .number(let number)? = values[name] { number } else { nil }
    }

    func bytes(_ name: String) -> [UInt8]? {
        if case .bytes(let bytes)? = values[name] { bytes } else { nil }
    }

    func bool(_ name: String) -> Bool? {
        if case .bool(let bool)? = values[name] { bool } else { nil }
    }

    func list(_ name: String) -> [AttributeValue]? {
        if case .list(let list)? = values[name] { list } else { nil }
    }

    func time(_ name: String) -> UnixTime? {
        number(name).map { UnixTime(milliseconds: $0) }
    }
}

extension AttributeValue {
    static func string(_ text: String?) -> AttributeValue? { text.map { .string($0) } }
    static func bytes(_ bytes: [UInt8]?) -> AttributeValue? { bytes.map { .bytes($0) } }
    static func bool(_ bool: Bool?) -> AttributeValue? { bool.map { .bool($0) } }
    static func time(_ time: UnixTime?) -> AttributeValue? { time.map { .number($0.milliseconds) } }
    /// For DynamoDB's own expiry, which counts seconds. It may come days late, so nobody relies on it.
    static func expiry(_ time: UnixTime) -> AttributeValue { .number(max(0, time.seconds) + 1) }
}

/// Base64 with padding (RFC 4648 §4), as the JSON of AWS has it.
private enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encodedBytes(bytes).map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return String(
            decoding: text + Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4), as: UTF8.self)
    }

    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0 else { return nil }
        var characters = Array(text.utf8)
        for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
        for index in characters.indices {
            switch characters[index] {
            case UInt8(ascii: "+"): characters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): characters[index] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            default: break
            }
        }
        return Base64URL.decode(characters[...])
    }
}
