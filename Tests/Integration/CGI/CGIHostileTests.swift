// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import Testing

/// Bytes that no client sends, through each web server: an error of the server's or of ours, never a fault of ours, and the next
/// request is answered as if nothing had been.
@Suite struct CGIHostileTests {
    private static let kinds: [WebServer.Kind] = [.apacheCGID, .nginx, .lighttpd]

    @Test(arguments: kinds)
    func nothingThatIsSentBreaksTheServiceOrIsTakenForASecondRequest(kind: WebServer.Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let shapes = try HostileRequest.all
            for shape in shapes {
                let answers = Self.send(shape, to: server.port)
                // What follows the first request is a request of its own only where both agree on where the first one ends.
                #expect(answers.count <= shape.mostAnswers, "\(shape.name): \(answers)")
                for answer in answers {
                    let isError = (400...499).contains(answer.status) || [501, 505].contains(answer.status)
                    #expect(isError || shape.mayBeServed && answer.status == 200, "\(shape.name): \(answer.status)")
                    #expect(answer.code != "internal", "\(shape.name): \(answer.text)")
                }
                let next = try Loopback.exchange(server.port, [HostileRequest.health])
                #expect(
                    next.status == 200 && next.text.contains(#"{"status":"ok"}"#), "after \(shape.name): \(next.status)"
                )
            }
            #expect(try server.signIn().status == 201, "nobody was signed in by any of it")
            #expect(!server.log().contains("Fatal error"))
            #expect(Running.vanish(Installed.shared.program, within: 30), "processes of the function stay")
        }
    }

    /// All answers of one connection. One that is silent was closed on the client.
    private static func send(_ shape: HostileRequest, to port: Int) -> [HTTPAnswer] {
        guard let connection = Loopback.connection(to: port) else { return [] }
        for piece in shape.pieces {
            connection.send(piece)
            if shape.pieces.count > 1 { usleep(40_000) }
        }
        // Whoever still waits for more is told that there is none.
        var rest = connection.read(untilSilentFor: 0.4)
        connection.finish()
        rest += connection.read(untilSilentFor: 1)
        var answers: [HTTPAnswer] = []
        while let next = rest.range(of: Data("HTTP/1.".utf8), in: rest.startIndex..<rest.endIndex) {
            let following = rest.range(of: Data("HTTP/1.".utf8), in: next.upperBound..<rest.endIndex)
            let answer = HTTPAnswer(raw: Data(rest[next.lowerBound..<(following?.lowerBound ?? rest.endIndex)]))
            if answer.status != 100 { answers.append(answer) }
            rest = following.map { Data(rest[$0.lowerBound...]) } ?? Data()
        }
        return answers
    }
}

extension Connection {
    /// To its end, or until nothing has come for so long.
    fileprivate func read(untilSilentFor seconds: Double) -> Data {
        var data = Data()
        while let more = receive(within: seconds), !more.isEmpty { data += more }
        return data
    }
}

/// A request as it goes over the wire.
private struct HostileRequest {
    let name: String
    let pieces: [Data]
    /// A server may overlook what is odd about it, if it reads it as it was meant.
    var mayBeServed = false
    var mostAnswers = 1

    static let health = Data("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)

    init(_ name: String, _ pieces: String..., mayBeServed: Bool = false, mostAnswers: Int = 1) {
        self.name = name
        self.pieces = pieces.map { Data($0.utf8) }
        self.mayBeServed = mayBeServed
        self.mostAnswers = mostAnswers
    }

    static var all: [HostileRequest] {
        get throws { try smuggling + fields + targets + bodies }
    }

    private static func post(_ fields: String..., body: String) -> String {
        (["POST /auth/apple HTTP/1.1", "Host: localhost", "Content-Type: application/json"] + fields)
            .joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private static func get(_ target: String, _ fields: String...) -> String {
        (["GET \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n"
    }

    /// RFC 9112 §6.3, §7.1, §11.2. The one that is smuggled would sign a person in.
    private static var smuggling: [HostileRequest] {
        get throws {
            let body = String(decoding: try Installed.shared.signInBody(), as: UTF8.self)
            let hidden = post("Content-Length: \(body.utf8.count)", "Connection: close", body: body)
            let chunks = "0\r\n\r\n" + hidden
            return [
                HostileRequest(
                    "CL.TE", post("Content-Length: \(chunks.utf8.count)", "Transfer-Encoding: chunked", body: chunks)),
                HostileRequest("TE.CL", post("Transfer-Encoding: chunked", "Content-Length: 4", body: chunks)),
                HostileRequest("two lengths", post("Content-Length: 0", "Content-Length: 5", body: "{\"a\":" + hidden)),
                HostileRequest("a list of lengths", post("Content-Length: 5, 5", body: "{\"a\":" + hidden)),
                HostileRequest("a signed length", post("Content-Length: +5", body: "{\"a\":" + hidden)),
                HostileRequest("a negative length", post("Content-Length: -1", body: hidden)),
                HostileRequest("a length beyond all", post("Content-Length: 99999999999999999999", body: hidden)),
                HostileRequest("a length in base 16", post("Content-Length: 0x5", body: "{\"a\":" + hidden)),
                HostileRequest("an unknown coding", post("Transfer-Encoding: xchunked", body: chunks)),
                HostileRequest("chunked twice", post("Transfer-Encoding: chunked, chunked", body: chunks)),
                HostileRequest("a folded coding", post("Transfer-Encoding:\r\n chunked", body: chunks)),
                HostileRequest("a space before the colon", post("Transfer-Encoding : chunked", body: chunks)),
                HostileRequest(
                    "a chunk that is no number", post("Transfer-Encoding: chunked", body: "zz\r\n{}\r\n" + chunks)),
                HostileRequest(
                    "a chunk beyond all",
                    post("Transfer-Encoding: chunked", body: "ffffffffffffffff1\r\n{}\r\n" + chunks)),
                HostileRequest("a negative chunk", post("Transfer-Encoding: chunked", body: "-2\r\n{}\r\n" + chunks)),
                HostileRequest(
                    "a chunk longer than said", post("Transfer-Encoding: chunked", body: "1\r\n{}}\r\n" + chunks)),
            ]
        }
    }

    private static let fields: [HostileRequest] = [
        HostileRequest("two hosts", get("/health", "Host: elsewhere")),
        HostileRequest("no host", "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"),
        HostileRequest("a null in a value", get("/health", "X-A: a\0b")),
        HostileRequest("a null in a name", get("/health", "X\0A: b")),
        HostileRequest("a carriage return in a value", get("/health", "X-A: a\rX-B: c"), mayBeServed: true),
        HostileRequest("a field without a name", get("/health", ": b"), mayBeServed: true),
        HostileRequest(
            "two authorizations", get("/auth/me", "Authorization: Bearer a", "Authorization: Bearer b")),
        HostileRequest(
            "10,000 fields", get("/health", (0..<10_000).map { "X-\($0): a" }.joined(separator: "\r\n"))),
        HostileRequest("a field of a megabyte", get("/health", "X-A: " + String(repeating: "a", count: 1 << 20))),
        HostileRequest("an unknown method", "\u{7F}\u{1B} /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        HostileRequest("an unknown version", "GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", mayBeServed: true),
        HostileRequest("no request", String(repeating: "\0", count: 4096)),
        HostileRequest("a handshake of TLS", "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0\u{01}\u{7C}\u{03}\u{03}\r\n\r\n"),
    ]

    private static let targets: [HostileRequest] =
        [
            "/%", "/%zz", "/health%", "/health%0", "/health%00", "/health%00.json", "/%c0%ae%c0%ae/health", "/%ff%fe",
            "/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd",
            "/..%5c..%5cetc%5cpasswd", "/auth/apple/authorize?return_url=%zz", "/auth/sessions/..%2f..%2fhealth",
            "/auth/apple%0d%0aX-A:%20b", "/auth/apple/authorize?state=%00&return_url=%0d%0aSet-Cookie:a",
            "*", "health", "/" + String(repeating: "a", count: 100_000),
            "/auth/providers?platform=" + String(repeating: "%25", count: 2000),
        ].map { HostileRequest("the target \($0.prefix(60))", get($0)) } + [
            HostileRequest("a null in the target", get("/health\0")),
            HostileRequest("a space in the target", get("/health x")),
        ]

    private static let bodies: [HostileRequest] = [
        HostileRequest(
            "a body of 2 MiB",
            post("Content-Length: \(2 << 20)", "Connection: close", body: String(repeating: " ", count: 2 << 20))),
        HostileRequest(
            "chunks of one byte",
            post("Transfer-Encoding: chunked", "Connection: close", body: "")
                + String(repeating: "1\r\n{\r\n", count: 5000) + "0\r\n\r\n"),
        HostileRequest("a body that ends early", post("Content-Length: 500", body: "{\"identity_token\":")),
        HostileRequest(
            "a slow body", post("Content-Length: 12", "Connection: close", body: "{"), "\"a\"", ":[", "[[", "[[", "}}"),
        HostileRequest(
            "a slow header", "GET /heal", "th HTTP/1.1\r\nHo", "st: localhost\r\nConnection: close\r\nX", "\r\n\r\n",
            mayBeServed: true),
        HostileRequest(
            "nulls in JSON", post("Content-Length: 14", "Connection: close", body: "{\"a\":\"\0\0\0\0\0\0\0}")),
        HostileRequest(
            "a form of escapes",
            "POST /auth/apple/callback HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 17\r\n\r\nstate=%zz&state=%"),
    ]
}
#endif
