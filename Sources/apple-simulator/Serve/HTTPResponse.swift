internal import JOSE

/// One response; the connection is closed after it.
struct HTTPResponse {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// For the log: what became of the request, in words that give away nothing of it.
    var outcome: String?

    static func text(
        _ status: Int, _ text: String, headers: [(name: String, value: String)] = [], outcome: String? = nil
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: Array((text + "\n").utf8), outcome: outcome)
    }

    /// Never kept by a cache: it holds tokens, or what is true only now.
    static func json(_ status: Int, _ json: JSON, outcome: String? = nil) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "application/json;charset=UTF-8"), ("Cache-Control", "no-store"),
                ("Pragma", "no-cache"),
            ], body: json.serialized(), outcome: outcome)
    }

    /// As it goes over the wire; to HEAD without the body (RFC 9110 §9.3.2).
    func serialized(date: String, withBody: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Unknown")\r\nDate: \(date)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        // A 304 has no body, and a length would be that of the body it does not have.
        if status != 304 { head += "Content-Length: \(body.count)\r\n" }
        head += "Connection: close\r\n\r\n"
        return Array(head.utf8) + (withBody && status != 304 ? body : [])
    }

    private static let reasons = [
        200: "OK", 303: "See Other", 304: "Not Modified", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed",
        408: "Request Timeout", 413: "Content Too Large", 415: "Unsupported Media Type", 421: "Misdirected Request",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    ]
}
