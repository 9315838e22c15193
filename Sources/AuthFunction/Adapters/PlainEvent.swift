internal import JOSE

/// The plain event (design §8): a request and a response as one JSON object each.
enum PlainEvent {
    static func request(from event: JSON) throws(Failure) -> Request {
        let fields = EventFields(event)
        let method = try fields.text(event["method"], "method")
        let (path, query) = EventPath.split(try fields.path("path"))
        return Request(
            method: method, path: path, query: query, headers: fields.headers(try fields.strings("headers") ?? []),
            body: try fields.body())
    }

    static func json(of response: Response) -> JSON {
        [
            "statusCode": .integer(Int64(response.status)), "headers": .object(response.headers.joined(by: ", ")),
            "body": .string(response.text), "isBase64Encoded": .bool(false),
        ]
    }
}

extension Response {
    /// The body as text, which every body of ours is.
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension Headers {
    /// An object of strings; lines of one name become one list (RFC 9110 §5.3).
    func joined(by separator: String) -> JSON.Object {
        var object = JSON.Object()
        for field in fields {
            let previous = object[field.name]?.string.map { $0 + separator } ?? ""
            object[field.name] = .string(previous + field.value)
        }
        return object
    }

    /// An object of arrays of strings, in which every line is kept.
    var lists: JSON.Object {
        var object = JSON.Object()
        for field in fields {
            object[field.name] = .array((object[field.name]?.array ?? []) + [.string(field.value)])
        }
        return object
    }

    /// Whether an object of strings would not hold every line.
    var hasRepeatedName: Bool { Set(fields.map(\.name)).count < fields.count }
}
