internal import JOSE

/// The parameters of an OpenWhisk web action, with raw HTTP (recommended: the body arrives as it was sent) or without.
///
/// https://github.com/apache/openwhisk/blob/master/docs/webactions.md
enum OpenWhiskEvent {
    static func request(from event: JSON) throws(Failure) -> Request {
        let fields = EventFields(event)
        let method = try fields.text(event["__ow_method"], "__ow_method").uppercased()
        let headers = fields.headers(try fields.strings("__ow_headers") ?? [])
        let path = event["__ow_path"]?.string ?? ""
        guard let query = event["__ow_query"]?.string else {
            let hasBody = method != "GET" && method != "HEAD" && method != "DELETE"
            return Request(
                method: method, path: path, query: hasBody ? "" : EventQuery.join(decoded: parameters(of: event)),
                headers: headers, body: hasBody ? try mergedBody(of: event, headers) : [])
        }
        return Request(
            method: method, path: path, query: query, headers: headers, body: try rawBody(of: event, headers))
    }

    /// With raw HTTP: text types and forms as they are, everything else (JSON too) in base64. A JSON text that was left as it
    /// is cannot be taken for base64, which has no braces.
    private static func rawBody(of event: JSON, _ headers: Headers) throws(Failure) -> [UInt8] {
        switch event["__ow_body"] {
        case nil, .null?: return []
        case .string(let text)?:
            if isForm(headers) || hasType("text/", headers) { return Array(text.utf8) }
            return Base64.decode(text) ?? Array(text.utf8)
        default: throw .invalidRequest([.init("event.__ow_body", "not_a_string")])
        }
    }

    /// Without raw HTTP the members of a JSON body, or the fields of a form, stand beside OpenWhisk's own, together with the
    /// query's; any other body is in `__ow_body`.
    private static func mergedBody(of event: JSON, _ headers: Headers) throws(Failure) -> [UInt8] {
        guard event["__ow_body"] == nil else { return try rawBody(of: event, headers) }
        if isForm(headers) { return FormURLEncoded.encode(parameters(of: event).map { ($0.name, $0.value) }) }
        let body = event.object?.filter { !isOwn($0.name) } ?? [:]
        return body.members.isEmpty ? [] : JSON.object(body).serialized()
    }

    private static func isForm(_ headers: Headers) -> Bool { hasType("application/x-www-form-urlencoded", headers) }

    private static func hasType(_ prefix: String, _ headers: Headers) -> Bool {
        headers["content-type"]?.lowercased().utf8.starts(with: prefix.utf8) == true
    }

    private static func isOwn(_ name: String) -> Bool { name.utf8.starts(with: "__ow_".utf8) }

    private static func parameters(of event: JSON) -> [(name: String, value: String)] {
        (event.object?.members ?? []).compactMap { member in
            guard !isOwn(member.name), let value = member.value.string else { return nil }
            return (member.name, value)
        }
    }

    /// A JSON body goes as JSON: as a string, a type such as `application/problem+json` would make OpenWhisk take it for base64.
    static func json(of response: Response) -> JSON {
        var headers = JSON.Object()
        for (name, value) in response.headers.lists.members.map({ ($0.name, $0.value) }) {
            headers[name] = value.array.flatMap { $0.count == 1 ? $0[0] : nil } ?? value
        }
        let body = try? JSON(parsing: response.body, limits: JSON.Limits(bytes: response.body.count))
        return [
            "statusCode": .integer(Int64(response.status)), "headers": .object(headers),
            "body": body ?? .string(response.text),
        ]
    }
}
