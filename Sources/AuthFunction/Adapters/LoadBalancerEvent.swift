internal import JOSE

/// An event of an Application Load Balancer, in either of its forms: one value a header, or (a setting of the target group)
/// lists of them. Its health check is a request of its own, to the path that the target group names, without Host and address.
///
/// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
enum LoadBalancerEvent {
    static func request(from event: JSON) throws(Failure) -> Request {
        let fields = EventFields(event)
        let method = try fields.text(event["httpMethod"], "httpMethod")
        let headers = fields.headers(try fields.fields("headers", "multiValueHeaders"))
        return Request(
            method: method, path: try fields.path("path"),
            // The balancer splits the query and leaves its parts encoded; they are decoded once, by whoever reads them.
            query: EventQuery.join(
                encoded: try fields.fields("queryStringParameters", "multiValueQueryStringParameters")),
            headers: headers, body: try fields.body(),
            context: Request.Context(
                named: nil, sourceAddress: lastHop(headers["x-forwarded-for"]), userAgent: nil))
    }

    /// The address that the balancer itself saw: it appends it, so all before it is the client's word. The port, which a
    /// setting adds, is cut off.
    private static func lastHop(_ forwardedFor: String?) -> String? {
        guard let forwardedFor, let last = forwardedFor.utf8.split(separator: UInt8(ascii: ",")).last else {
            return nil
        }
        let hop = last.filter { $0 != UInt8(ascii: " ") }
        let address: some Sequence<UInt8> =
            if hop.first == UInt8(ascii: "[") {
                hop.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            } else if hop.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
                hop.prefix { $0 != UInt8(ascii: ":") }
            } else {
                hop[...]
            }
        return String(decoding: Array(address), as: UTF8.self)
    }

    /// Every value a string and none null, at least one header: anything else is 502 to the client. In the form of single
    /// values a second `Set-Cookie` has no place: cookies need a target group with multi-value headers.
    static func json(of response: Response, isMultiValue: Bool) -> JSON {
        var headers = response.headers
        if headers.fields.isEmpty { headers.append("cache-control", "no-store") }
        var object: JSON.Object = [
            "statusCode": .integer(Int64(response.status)),
            "statusDescription": .string("\(response.status) \(Problem.title(response.status))"),
        ]
        if isMultiValue {
            object["multiValueHeaders"] = .object(headers.lists)
        } else {
            object["headers"] = .object(headers.joined(by: ", "))
        }
        object["body"] = .string(response.text)
        object["isBase64Encoded"] = .bool(false)
        return .object(object)
    }
}
