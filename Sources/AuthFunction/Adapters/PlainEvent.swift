internal import JOSE

/// The plain event (design §8): a request and a response as one JSON object each.
package enum PlainEvent {
    /// Bytes of one event: a body of the largest size whose every byte is escaped, and room for headers.
    package static let maximumSize = 6 * AuthFunction.maximumBodySize + 65_536

    /// Reads an event. An event that is none is a failed request like any other, so it is answered and never fatal.
    package static func request(from event: ArraySlice<UInt8>, basePath: String) -> Result<Request, Failure> {
        do throws(Failure) {
            return .success(try read(event, basePath: basePath))
        } catch {
            return .failure(error)
        }
    }

    private static func read(_ event: ArraySlice<UInt8>, basePath: String) throws(Failure) -> Request {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: event, limits: JSON.Limits(bytes: maximumSize))
        } catch .tooLarge {
            throw .contentTooLarge
        } catch {
            throw .invalidRequest([.init("event", "not_json")])
        }
        guard json.object != nil else { throw .invalidRequest([.init("event", "not_a_json_object")]) }
        guard let method = json["method"]?.string, !method.isEmpty else {
            throw .invalidRequest([.init("event.method", "not_a_string")])
        }
        guard let target = json["path"]?.string else { throw .invalidRequest([.init("event.path", "not_a_string")]) }
        let (path, query) = split(target)
        return Request(
            method: method, path: BasePath.strip(basePath, from: path), query: query,
            headers: try headers(json["headers"]), body: try body(of: json))
    }

    private static func split(_ target: String) -> (path: String, query: String) {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (target, "") }
        return (String(target[..<mark]), String(target[target.utf8.index(after: mark)...]))
    }

    private static func headers(_ json: JSON?) throws(Failure) -> Headers {
        var headers = Headers()
        switch json {
        case nil, .null?: break
        case .object(let object)?:
            for member in object.members where member.value != .null {
                guard let value = member.value.string else {
                    throw .invalidRequest([.init("event.headers", "value_not_a_string")])
                }
                headers.append(member.name, value)
            }
        default: throw .invalidRequest([.init("event.headers", "not_an_object")])
        }
        return headers
    }

    private static func body(of json: JSON) throws(Failure) -> [UInt8] {
        switch json["body"] {
        case nil, .null?: return []
        case .string(let text)?: return Array(text.utf8)
        default: throw .invalidRequest([.init("event.body", "not_a_string")])
        }
    }

    /// The response on one line, with its line feed.
    package static func bytes(of response: Response) -> [UInt8] {
        var headers = JSON.Object()
        for field in response.headers.fields { headers[field.name] = .string(field.value) }
        let json: JSON = [
            "statusCode": .integer(Int64(response.status)), "headers": .object(headers),
            "body": .string(String(decoding: response.body, as: UTF8.self)), "isBase64Encoded": .bool(false),
        ]
        return json.serialized() + [0x0A]
    }
}
