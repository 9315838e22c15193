import JOSE

@testable import AuthFunction

extension FuzzTarget {
    /// Each shape of event, from bytes to bytes: there is always one response, in the sender's shape, and nobody is signed in
    /// by it, since nobody has a token.
    static let events: [FuzzTarget] = [
        event("plain") { $0 == .plain },
        event("api-gateway-v1") { $0 == .apiGatewayV1 },
        event("api-gateway-v2") { $0 == .apiGatewayV2 },
        event("load-balancer") { if case .loadBalancer = $0 { true } else { false } },
        event("openwhisk") { $0 == .openWhisk },
    ]

    private static func event(_ shape: String, _ isMeant: @escaping @Sendable (EventOrigin) -> Bool) -> FuzzTarget {
        FuzzTarget("event-\(shape)", maximumSize: 8192) { input in
            let event = Event(input[...], basePath: "/mount")
            guard isMeant(event.origin) else { return .foreign }
            let exchange = FuzzSite.function().respond(to: event.request)
            try check(exchange, to: event.request)
            try check(event.bytes(of: exchange.response), of: exchange.response, in: event.origin)
            if let request = try? event.request.get() { try checkPlainForm(of: request) }
            return .interesting
        }
    }

    /// A response that any doorway can write, and one line for the log.
    static func check(_ exchange: Exchange, to request: Result<Request, Failure>) throws {
        let response = exchange.response
        try demand(
            [200, 204, 400, 401, 403, 404, 405, 413, 415, 429, 500, 503].contains(response.status), "a known status")
        let path = (try? request.get())?.path
        if response.status == 200 {
            let isPublic = ["/health", "/.well-known/jwks.json", "/auth/providers"].contains(path)
            try demand(isPublic, "nobody gets in without a token")
        }
        try demand(response.status != 500 && response.status != 503, "no input is a fault of ours")
        if response.status == 401 { try demand(response.headers["www-authenticate"] != nil, "401 has a challenge") }
        for field in response.headers.fields {
            try demand(field.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a header is visible ASCII")
        }
        let line = exchange.log.json.serialized()
        try demand(!line.contains(0x0A) && line.count < 2048, "the log is one short line")
        _ = try JSON(parsing: line, limits: JSON.Limits(bytes: 4096))
    }

    private static func check(_ bytes: [UInt8], of response: Response, in origin: EventOrigin) throws {
        try demand(bytes.last == 0x0A && bytes.count(where: { $0 == 0x0A }) == 1, "the response is one line")
        let json = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 65_536))
        try demand(json["statusCode"] == .integer(Int64(response.status)), "it says the status")
        let headers = json["headers"]?.object ?? json["multiValueHeaders"]?.object
        try demand(headers != nil, "it has headers")
        switch origin {
        case .openWhisk: try demand(json["body"] != nil, "it has a body")
        case .plain, .apiGatewayV1, .apiGatewayV2, .loadBalancer:
            try demand(json["body"]?.string != nil && json["isBase64Encoded"] == .bool(false), "its body is text")
        }
    }

    /// A request written as a plain event is read as the same request.
    private static func checkPlainForm(of request: Request) throws {
        guard !request.path.utf8.contains(UInt8(ascii: "?")), let body = String(validating: request.body, as: UTF8.self)
        else { return }
        let target = request.query.isEmpty ? request.path : "\(request.path)?\(request.query)"
        let plain: JSON = [
            "method": .string(request.method), "path": .string(target),
            "headers": .object(request.headers.joined(by: ", ")),
            "body": .string(body),
        ]
        let again = try Event(plain, basePath: "").request.get()
        try demand(again.method.utf8.elementsEqual(request.method.utf8), "the method is kept")
        try demand(again.path.utf8.elementsEqual(request.path.utf8), "the path is kept")
        try demand(again.query.utf8.elementsEqual(request.query.utf8), "the query is kept")
        try demand(again.body == request.body, "the body is kept")
        for name in Set(request.headers.fields.map(\.name)) {
            let (first, second) = (request.headers[name], again.headers[name])
            try demand(first?.utf8.elementsEqual(second?.utf8 ?? "".utf8) ?? false, "each header is kept")
        }
    }
}
