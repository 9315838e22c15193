internal import JOSE

/// The members of an event that more than one shape has, read alike. Null is absent everywhere: the console's test button
/// sends null for whatever it does not have.
struct EventFields {
    private let event: JSON

    init(_ event: JSON) {
        self.event = event
    }

    /// A string that must be there and not be empty.
    func text(_ value: JSON?, _ name: String) throws(Failure) -> String {
        guard let text = value?.string, !text.isEmpty else {
            throw .invalidRequest([.init("event.\(name)", "not_a_string")])
        }
        return text
    }

    /// A string that must be there.
    func path(_ name: String) throws(Failure) -> String {
        guard let text = event[name]?.string else {
            throw .invalidRequest([.init("event.\(name)", "not_a_string")])
        }
        return text
    }

    /// An object of strings, or none.
    func strings(_ name: String) throws(Failure) -> [(name: String, value: String)]? {
        guard let object = try object(name) else { return nil }
        var fields: [(name: String, value: String)] = []
        for member in object.members where member.value != .null {
            guard let value = member.value.string else {
                throw .invalidRequest([.init("event.\(name)", "value_not_a_string")])
            }
            fields.append((member.name, value))
        }
        return fields
    }

    /// An object of arrays of strings, or none.
    func stringLists(_ name: String) throws(Failure) -> [(name: String, value: String)]? {
        guard let object = try object(name) else { return nil }
        var fields: [(name: String, value: String)] = []
        for member in object.members where member.value != .null {
            guard let values = member.value.array else {
                throw .invalidRequest([.init("event.\(name)", "value_not_an_array")])
            }
            for item in values where item != .null {
                guard let value = item.string else {
                    throw .invalidRequest([.init("event.\(name)", "value_not_a_string")])
                }
                fields.append((member.name, value))
            }
        }
        return fields
    }

    /// The list form where there is one, since it has every value and the other only the last of each name.
    func fields(_ single: String, _ multiple: String) throws(Failure) -> [(name: String, value: String)] {
        if let lists = try stringLists(multiple) { return lists }
        return try strings(single) ?? []
    }

    func headers(_ fields: [(name: String, value: String)]) -> Headers {
        var headers = Headers()
        for field in fields { headers.append(field.name, field.value) }
        return headers
    }

    /// The body as bytes: text as it is, base64 where the event says so.
    func body() throws(Failure) -> [UInt8] {
        let text: String
        switch event["body"] {
        case nil, .null?: return []
        case .string(let string)?: text = string
        default: throw .invalidRequest([.init("event.body", "not_a_string")])
        }
        switch event["isBase64Encoded"] {
        case nil, .null?, .bool(false)?: return Array(text.utf8)
        case .bool(true)?:
            guard let bytes = Base64.decode(text) else { throw .invalidRequest([.init("event.body", "not_base64")]) }
            return bytes
        default: throw .invalidRequest([.init("event.isBase64Encoded", "not_a_boolean")])
        }
    }

    private func object(_ name: String) throws(Failure) -> JSON.Object? {
        switch event[name] {
        case nil, .null?: return nil
        case .object(let object)?: return object
        default: throw .invalidRequest([.init("event.\(name)", "not_an_object")])
        }
    }
}

extension Request.Context {
    /// What a runtime says of a request, cut to what a log line may hold: a name of visible ASCII, an IP address.
    init(named requestID: JSON?, sourceAddress: String?, userAgent: JSON?) {
        self.init(
            requestID: requestID?.string.flatMap(Self.name), sourceAddress: sourceAddress.flatMap(Self.address),
            userAgent: userAgent?.string)
    }

    /// Of at most 128 characters.
    package static func name(_ text: String) -> String? {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
    }

    /// The console's test button says `test-invoke-source-ip`, which is none.
    private static func address(_ text: String) -> String? {
        let isAddress =
            (2...45).contains(text.utf8.count) && text.contains { $0 == "." || $0 == ":" }
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
        return isAddress ? text : nil
    }
}
