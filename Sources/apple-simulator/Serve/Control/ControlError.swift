internal import JOSE

/// The control API was not used as it should be.
struct ControlError: Error {
    let status: Int
    let reason: String
    /// Where people can meet it too, on the page.
    let spanish: String

    init(_ reason: String, spanish: String? = nil, status: Int = 400) {
        self.reason = reason
        self.spanish = spanish ?? reason
        self.status = status
    }

    var response: HTTPResponse { .json(status, ["error": .string(reason)], outcome: "refused") }
}

extension HTTPRequest {
    /// The body of a control request: a JSON object. Its type must be said, because a page elsewhere can send text of any
    /// other kind here without asking.
    func controlBody(members known: [String]) throws(ControlError) -> JSON.Object {
        let type = headers["content-type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else { throw ControlError("send application/json", status: 415) }
        let json = try? JSON(parsing: body, limits: JSON.Limits(bytes: Self.maximumBody, depth: 8))
        guard let object = json?.object else { throw ControlError("the body is not a JSON object") }
        if let unknown = object.members.first(where: { !known.contains($0.name) }) {
            throw ControlError("there is no member \(unknown.name); there are \(known.joined(separator: ", "))")
        }
        return object
    }
}

extension JSON.Object {
    /// A string that is there and not empty, or nil; anything else is refused.
    func text(_ name: String) throws(ControlError) -> String? {
        switch self[name] {
        case nil, .null: return nil
        case .string(let text) where !text.isEmpty: return text
        default: throw ControlError("\(name) is not a string, or is empty")
        }
    }

    func flag(_ name: String) throws(ControlError) -> Bool? {
        switch self[name] {
        case nil, .null: return nil
        case .bool(let flag): return flag
        default: throw ControlError("\(name) is not true or false")
        }
    }

    func number(_ name: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
        switch self[name] {
        case nil, .null: return nil
        case .integer(let number) where range.contains(number): return number
        default:
            throw ControlError("\(name) is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
