#if os(Linux)
internal import FoundationEssentials

/// What the loopback listener answers: the way out to the provider, once; the redirect back, once; nothing else.
struct LoopbackDoor: Sendable {
    static let maximumHead = 16_384

    /// The address to show: on this machine, unguessable, and good for one request.
    let entrance: String
    private let entrancePath: String
    private let authority: String
    private let callbackPath: String?
    private let destination: String
    private let isExpected: @Sendable (URL) -> Bool
    private var isUsed = false

    init(
        authority: String, callbackPath: String?, destination: String, isExpected: @escaping @Sendable (URL) -> Bool
    ) {
        var random = SystemRandomNumberGenerator()
        entrancePath = "/" + String(random.next(), radix: 36) + String(random.next(), radix: 36)
        entrance = "http://\(authority)\(entrancePath)"
        self.authority = authority
        self.callbackPath = callbackPath
        self.destination = destination
        self.isExpected = isExpected
    }

    /// The lines of a request's head; nil while it has not ended.
    static func head(of bytes: [UInt8]) -> [Substring]? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.utf8.indices.first(where: { text.utf8[$0...].starts(with: "\r\n\r\n".utf8) }) else {
            return nil
        }
        return text[..<end].split(separator: "\r\n")
    }

    /// The answer, and the visit's result when this was its end: the redirect, or nil inside where none is to be expected.
    mutating func answer(to head: [Substring]) -> (response: String, result: URL??) {
        let start = head.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard start.count == 3, start[2].hasPrefix("HTTP/1."), start[1].hasPrefix("/") else {
            return (Self.page("400 Bad Request", "Esto no es una petición.", "This is not a request."), nil)
        }
        guard start[0] == "GET" else { return (Self.page("405 Method Not Allowed", "Solo GET.", "Only GET."), nil) }
        // Another name is a page elsewhere whose name was made to point here.
        let hosts = head.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
        guard hosts.count == 1, hosts[0].dropFirst(5).drop(while: { $0 == " " }) == authority else {
            return (Self.page("421 Misdirected Request", "Esta es otra máquina.", "This is another machine."), nil)
        }
        let path = start[1].prefix { $0 != "?" }
        if start[1] == entrancePath {
            guard !isUsed else {
                let page = Self.page(
                    "410 Gone", "Esta dirección ya se usó. Empieza de nuevo.",
                    "This address has been used. Start again.")
                return (page, nil)
            }
            isUsed = true
            return (
                Self.response("302 Found", "Location: \(destination)\r\n", ""), callbackPath == nil ? .some(nil) : nil
            )
        }
        guard let callbackPath, path == callbackPath, let url = URL(string: "http://\(authority)\(start[1])") else {
            return (Self.page("404 Not Found", "Aquí no hay nada.", "There is nothing here."), nil)
        }
        guard isExpected(url) else {
            let page = Self.page(
                "400 Bad Request", "Esto no responde a la petición abierta.",
                "This does not answer the request that is open.")
            return (page, nil)
        }
        let page = Self.page(
            "200 OK", "Listo. Puedes cerrar esta ventana y volver al programa.",
            "Done. You can close this window and go back to the program.")
        return (page, .some(url))
    }

    private static func page(_ status: String, _ spanish: String, _ english: String) -> String {
        response(
            status, "Content-Type: text/html; charset=utf-8\r\n",
            "<!doctype html><html lang=es><meta name=viewport content=\"width=device-width\"><title>Xid</title>"
                + "<p>\(spanish)</p><p lang=en>\(english)</p></html>\n")
    }

    private static func response(_ status: String, _ fields: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\nCache-Control: no-store\r\n"
            + "Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n"
            + "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n\(body)"
    }
}
#endif
