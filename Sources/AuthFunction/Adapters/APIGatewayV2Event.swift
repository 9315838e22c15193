internal import JOSE

/// An event of API Gateway's HTTP APIs with payload format 2.0, or of a Lambda function URL, which has the same shape.
///
/// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
enum APIGatewayV2Event {
    static func request(from event: JSON) throws(Failure) -> Request {
        let fields = EventFields(event)
        let context = event["requestContext"]
        let http = context?["http"]
        return Request(
            method: try fields.text(http?["method"], "requestContext.http.method"), path: try fields.path("rawPath"),
            query: event["rawQueryString"]?.string ?? "", headers: try headers(of: event), body: try fields.body(),
            context: Request.Context(
                named: context?["requestId"], sourceAddress: http?["sourceIp"]?.string,
                userAgent: http?["userAgent"]))
    }

    /// Cookies come in a list of their own; a function URL sends them in the header as well, so the list replaces it.
    private static func headers(of event: JSON) throws(Failure) -> Headers {
        let fields = EventFields(event)
        var lines = try fields.strings("headers") ?? []
        switch event["cookies"] {
        case nil, .null?: break
        case .array(let items)?:
            var cookies: [String] = []
            for item in items {
                guard let cookie = item.string else {
                    throw .invalidRequest([.init("event.cookies", "value_not_a_string")])
                }
                cookies.append(cookie)
            }
            guard !cookies.isEmpty else { break }
            lines.removeAll { $0.name.lowercased() == "cookie" }
            lines.append(("cookie", cookies.joined(separator: "; ")))
        default: throw .invalidRequest([.init("event.cookies", "not_an_array")])
        }
        return fields.headers(lines)
    }

    /// A named stage is in front of the path; `$default` is not.
    static func stage(of event: JSON) -> String? {
        guard let stage = event["requestContext"]?["stage"]?.string, !stage.isEmpty, stage != "$default" else {
            return nil
        }
        return stage
    }

    /// Headers have one value each here; only cookies may be several, and have a list for it.
    static func json(of response: Response) -> JSON {
        var headers = Headers()
        var cookies: [JSON] = []
        for field in response.headers.fields {
            if field.name == "set-cookie" {
                cookies.append(.string(field.value))
            } else {
                headers.append(field.name, field.value)
            }
        }
        var object: JSON.Object = [
            "statusCode": .integer(Int64(response.status)), "headers": .object(headers.joined(by: ", ")),
        ]
        if !cookies.isEmpty { object["cookies"] = .array(cookies) }
        object["body"] = .string(response.text)
        object["isBase64Encoded"] = .bool(false)
        return .object(object)
    }
}
