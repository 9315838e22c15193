import CurlHTTP
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct HTTPClientTests {
    static func client(for server: LoopbackServer, proxy: String? = nil) -> HTTPClient {
        HTTPClient(userAgent: "auth-apple/test", certificateAuthorities: server.authority, proxy: proxy)
    }

    static func get(_ url: String, by client: HTTPClient) throws -> HTTPResponse {
        try client.send(HTTPRequest(.get, try HTTPURL(url, allowing: .loopback)))
    }

    static func refusal(
        of answer: LoopbackServer.Answer, change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> (error: HTTPError?, seconds: Double, requests: Int) {
        try LoopbackServer.run(answer) { server in
            var request = HTTPRequest(.get, try HTTPURL(server.url("/auth/keys?code=hunter2")))
            change(&request)
            let start = Date()
            let error = #expect(throws: HTTPError.self) { try client(for: server).send(request) }
            #expect(error.map { !$0.words.contains("hunter2") } == true)
            return (error, Date().timeIntervalSince(start), try server.requests().count)
        }
    }

    @Test func anAnswerComesWithStatusHeadersAndBody() throws {
        let answer = LoopbackServer.Answer(
            404, "not here", headers: [["ETag", "\"a\""], ["X-List", "1"], ["x-list", "  2\t"], ["Empty", ""]])
        try LoopbackServer.run(answer) { server in
            let response = try Self.get(server.url(), by: Self.client(for: server))
            #expect(response.status == 404)
            #expect(response.body == Array("not here".utf8))
            #expect(response[field: "etag"] == "\"a\"")
            #expect(response[field: "x-list"] == "1, 2")
            #expect(response[field: "empty"] == "")
            #expect(response[field: "missing"] == nil)
        }
    }

    @Test func itSaysWhoAsksAndNothingElse() throws {
        try LoopbackServer.run { server in
            _ = try Self.get(server.url(), by: Self.client(for: server))
            let request = try #require(try server.requests().first)
            #expect(
                request.headers == [
                    "host": "localhost:\(server.port)", "user-agent": "auth-apple/test", "accept": "*/*",
                ])
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete])
    func aBodyIsSentAsItIs(method: HTTPRequest.Method) throws {
        try LoopbackServer.run { server in
            let body = [UInt8](repeating: 0, count: 3) + Array("grant_type=x&é".utf8)
            let headers = [
                HTTPRequest.Header("Content-Type", "application/x-www-form-urlencoded"),
                HTTPRequest.Header("X-Empty", ""),
            ]
            _ = try Self.client(for: server)
                .send(HTTPRequest(method, HTTPURL(server.url("/token?a=b")), headers: headers, body: body))
            let request = try #require(try server.requests().first)
            #expect(request.method == method.rawValue)
            #expect(request.path == "/token?a=b")
            #expect(Array(request.body) == body)
            #expect(request.headers["content-length"] == String(body.count))
            #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
            #expect(request.headers["x-empty"] == "")
            #expect(request.headers["expect"] == nil)
        }
    }

    @Test func aPostWithoutBodyHasAnEmptyOneAndNoInventedType() throws {
        try LoopbackServer.run { server in
            _ = try Self.client(for: server).send(HTTPRequest(.post, HTTPURL(server.url())))
            let request = try #require(try server.requests().first)
            #expect(request.method == "POST")
            #expect(request.headers["content-length"] == "0")
            #expect(request.headers["content-type"] == nil)
        }
    }

    @Test func oneRequestLeavesNothingInTheNext() throws {
        try LoopbackServer.run { server in
            let client = Self.client(for: server)
            let url = try HTTPURL(server.url())
            _ = try client.send(HTTPRequest(.post, url, headers: [.init("Authorization", "x")], body: [1, 2, 3]))
            _ = try client.send(HTTPRequest(.get, url))
            let last = try #require(try server.requests().last)
            #expect(last.method == "GET")
            #expect(last.headers["authorization"] == nil)
            #expect(last.headers["content-length"] == nil)
            #expect(last.body.isEmpty)
        }
    }

    @Test func aClientThatIsKeptKeepsItsConnection() throws {
        try LoopbackServer.run(.init(200, "x")) { server in
            let client = Self.client(for: server)
            for _ in 0..<3 { _ = try Self.get(server.url(), by: client) }
            #expect(try server.requests().map(\.connection) == [1, 1, 1])
        }
    }

    @Test func tls12IsEnough() throws {
        try LoopbackServer.run(.init(200, "x").with { $0.tls = .only12 }) { server in
            let response = try Self.get(server.url(), by: Self.client(for: server))
            #expect(response.status == 200)
        }
    }

    @Test(arguments: [LoopbackServer.Answer.TLS.only11, .wrongHost, .untrusted, .expired])
    func aServerThatDoesNotProveItselfIsNotAsked(tls: LoopbackServer.Answer.TLS) throws {
        let refusal = try Self.refusal(of: .init(200, "x").with { $0.tls = tls })
        #expect(refusal.error?.code == .tls)
        #expect(refusal.requests == 0)
    }

    @Test func withoutABundleOfItsOwnTheSystemsAuthoritiesDecide() throws {
        try LoopbackServer.run { server in
            let client = HTTPClient(userAgent: "auth-apple/test")
            let error = #expect(throws: HTTPError.self) { try Self.get(server.url(), by: client) }
            #expect(error?.code == .tls)
        }
    }

    @Test func aBundleThatIsNotThereIsAnError() throws {
        try LoopbackServer.run { server in
            let client = HTTPClient(userAgent: "auth-apple/test", certificateAuthorities: "/nonexistent.pem")
            let error = #expect(throws: HTTPError.self) { try Self.get(server.url(), by: client) }
            #expect(error?.code == .tls)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], [true, false])
    func noRedirectIsFollowed(status: Int, toAnotherHost: Bool) throws {
        try LoopbackServer.run { server in
            let target = toAnotherHost ? "https://127.0.0.1:\(server.port)/elsewhere" : "/elsewhere"
            try server.answer(.init(status, "", headers: [["Location", target]]))
            #expect(try Self.get(server.url(), by: Self.client(for: server)).status == status)
            #expect(try server.requests().map(\.path) == ["/auth/keys"])
        }
    }

    @Test func aBodyUpToTheCapIsTakenAndOneByteMoreIsNot() throws {
        let body = String(repeating: "x", count: 65_536)
        try LoopbackServer.run(.init(200, body)) { server in
            let response = try Self.get(server.url(), by: Self.client(for: server))
            #expect(response.body.count == 65_536)
        }
        #expect(try Self.refusal(of: .init(200, body + "x")).error?.code == .tooLarge)
        #expect(try Self.refusal(of: .init(200, String(repeating: "x", count: 1 << 20))).error?.code == .tooLarge)
    }

    @Test func tooManyOrTooLargeHeadersAreRefused() throws {
        // The server adds one of its own.
        let many = (0..<100).map { ["X-\($0)", "y"] }
        try LoopbackServer.run(.init(200, "", headers: many.dropLast())) { server in
            let response = try Self.get(server.url(), by: Self.client(for: server))
            #expect(response.headers.count == 100)
        }
        #expect(try Self.refusal(of: .init(200, "", headers: many)).error?.code == .tooLarge)
        let large = [["X", String(repeating: "y", count: 20_000)], ["Z", String(repeating: "y", count: 20_000)]]
        #expect(try Self.refusal(of: .init(200, "", headers: large)).error?.code == .tooLarge)
    }

    @Test func anAnswerThatTricklesOrNeverComesEndsWithTheTimeLimit() throws {
        let slow: [LoopbackServer.Answer] = [
            .init(200, "0123456789").with { $0.trickle = 0.5 }, .init().with { $0.silent = true },
        ]
        for answer in slow {
            let refusal = try Self.refusal(of: answer) { $0.limits.total = .milliseconds(700) }
            #expect(refusal.error?.code == .timeout)
            #expect((0.6..<4.5).contains(refusal.seconds), "the whole answer takes five")
        }
    }

    @Test func withoutATimeLimitASlowAnswerIsWaitedFor() throws {
        try LoopbackServer.run(.init(200, "x").with { $0.delay = 1 }) { server in
            var request = HTTPRequest(.get, try HTTPURL(server.url()))
            request.limits.total = nil
            #expect(try Self.client(for: server).send(request).status == 200)
        }
    }

    @Test func aPortThatRefusesIsAConnectError() throws {
        try LoopbackServer.run { server in
            try server.listen(false)
            let error = #expect(throws: HTTPError.self) {
                try Self.get(server.url(), by: Self.client(for: server))
            }
            #expect(error?.code == .connect)
        }
    }

    @Test func halfABodyIsNoBody() throws {
        #expect(try Self.refusal(of: .init(200, "0123456789").with { $0.truncated = true }).error?.code == .transfer)
    }

    @Test func afterAFailureTheClientStillWorks() throws {
        try LoopbackServer.run { server in
            let client = Self.client(for: server)
            let url = try HTTPURL(server.url())
            try server.listen(false)
            #expect(throws: HTTPError.self) { try client.send(HTTPRequest(.get, url)) }
            try server.listen(true)
            #expect(try client.send(HTTPRequest(.get, url)).status == 200)
        }
    }

    @Test(arguments: [("X\r\nY", "z"), ("X", "y\r\nZ: w"), ("X", "y\u{0}"), ("", "y"), ("X Y", "z"), ("X:", "z")])
    func aHeaderThatWouldBeTwoIsRefused(name: String, value: String) throws {
        try LoopbackServer.run { server in
            let request = HTTPRequest(.get, try HTTPURL(server.url()), headers: [.init(name, value)])
            let error = #expect(throws: HTTPError.self) { try Self.client(for: server).send(request) }
            #expect(error?.code == .request)
            #expect(try server.requests().isEmpty)
        }
    }

    @Test func plainHTTPOnThisMachineWorksWhereItIsAllowed() throws {
        try LoopbackServer.run(.init(200, "x")) { server in
            let url = try HTTPURL(server.plainURL(), allowing: .loopback)
            #expect(try Self.client(for: server).send(HTTPRequest(.get, url)).body == [UInt8(ascii: "x")])
        }
    }

    @Test func aFileIsReadWhereItIsAllowedAndWithinTheCap() throws {
        let path = FileManager.default.temporaryDirectory.path + "/file-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(repeating: 7, count: 65_536).write(to: URL(fileURLWithPath: path))
        let client = HTTPClient(userAgent: "auth-apple/test")
        let request = HTTPRequest(.get, try HTTPURL("file://\(path)", allowing: .loopback))
        let response = try client.send(request)
        #expect(response.status == 200)
        #expect(response.body.count == 65_536)
        try Data(repeating: 7, count: 65_537).write(to: URL(fileURLWithPath: path))
        #expect(throws: HTTPError.self) { try client.send(request) }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: HTTPError.self) { try client.send(request) }
    }

    @Test func aProxyThatIsGivenIsUsed() throws {
        try LoopbackServer.run { server in
            let client = Self.client(for: server, proxy: "http://127.0.0.1:\(server.plainPort)")
            let url = try HTTPURL("http://127.0.0.1:9/keys", allowing: .loopback)
            #expect(try client.send(HTTPRequest(.get, url)).status == 200)
            #expect(try server.requests().map(\.path) == ["http://127.0.0.1:9/keys"])
        }
    }
}
