internal import JOSE

/// An event of API Gateway's REST APIs, or of its HTTP APIs with payload format 1.0.
///
/// https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
enum APIGatewayV1Event {
    static func request(from event: JSON) throws(Failure) -> Request {
        let fields = EventFields(event)
        let context = event["requestContext"]
        let identity = context?["identity"]
        return Request(
            method: try fields.text(event["httpMethod"], "httpMethod"), path: try fields.path("path"),
            // The gateway has decoded the query already.
            query: EventQuery.join(
                decoded: try fields.fields("queryStringParameters", "multiValueQueryStringParameters")),
            headers: fields.headers(try fields.fields("headers", "multiValueHeaders")), body: try fields.body(),
            context: Request.Context(
                named: context?["requestId"], sourceAddress: identity?["sourceIp"]?.string,
                userAgent: identity?["userAgent"]))
    }

    /// The stage, where `path` may begin with it: HTTP APIs put it there. REST APIs do not, but repeat the path with the stage
    /// before it in the context; then what looks like a stage in `path` is the client's own first segment.
    static func stage(of event: JSON) -> String? {
        guard let context = event["requestContext"], let stage = context["stage"]?.string, !stage.isEmpty,
            let path = event["path"]?.string
        else { return nil }
        return context["path"]?.string == "/\(stage)\(path)" ? nil : stage
    }

    /// Exactly the keys that the gateway knows: one more, and the client gets 502.
    static func json(of response: Response) -> JSON {
        var object: JSON.Object = ["statusCode": .integer(Int64(response.status))]
        if response.headers.hasRepeatedName {
            object["multiValueHeaders"] = .object(response.headers.lists)
        } else {
            object["headers"] = .object(response.headers.joined(by: ", "))
        }
        object["body"] = .string(response.text)
        object["isBase64Encoded"] = .bool(false)
        return .object(object)
    }
}
