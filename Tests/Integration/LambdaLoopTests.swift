import Foundation
import JOSE
import TestSupport
import Testing

private typealias Step = RuntimeAPIServer.Step

/// An event of an HTTP API for a route.
func gatewayEvent(_ method: String, _ path: String, body: String? = nil) -> String {
    var event: JSON = [
        "version": "2.0", "routeKey": "$default", "rawPath": .string(path), "rawQueryString": "",
        "headers": ["content-type": "application/json"],
        "requestContext": [
            "http": ["method": .string(method), "path": .string(path), "sourceIp": "192.0.2.7"], "stage": "$default",
            "requestId": "MIZRNhJtIAMEMDw=",
        ],
        "isBase64Encoded": .bool(false),
    ]
    guard case .object(var object) = event else { return "" }
    if let body { object["body"] = .string(body) }
    event = .object(object)
    return event.text
}

/// The loop against a Runtime API that does what the real one might.
@Suite struct LambdaLoopTests {
    /// Starts the function on a scripted Runtime API.
    private func withLoop(
        adding extra: [String: String] = [:], removing: [String] = [],
        _ body: (RuntimeAPIServer, RunningFunction) throws -> Void
    ) throws {
        let trial = try TrialFunction()
        for name in removing { trial.environment[name] = nil }
        try RuntimeAPIServer.run { server in
            let running = try trial.start(adding: extra.merging(["AWS_LAMBDA_RUNTIME_API": server.authority]) { $1 })
            try body(server, running)
        }
    }

    private func status(_ call: RuntimeAPIServer.Call?) throws -> Int64? {
        try JSON(text: try #require(call).body)["statusCode"]?.integer
    }

    @Test func eventsAreAnsweredInTheirOrderOverOneConnection() throws {
        try withLoop { server, running in
            let subject = "001.lambda.\(UUID().uuidString)"
            try server.next(
                .event(gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody(subject))) {
                    $0.id = "first"
                },
                .event(gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody(subject))) {
                    $0.id = "second"
                },
                .event(gatewayEvent("GET", "/health")) { $0.id = "third" })
            let calls = try server.calls(posts: 3, nexts: 4)
            let posts = calls.filter { $0.method == "POST" }
            #expect(
                posts.map(\.path)
                    == ["first", "second", "third"].map { "/2018-06-01/runtime/invocation/\($0)/response" })
            #expect(try posts.map { try status($0) } == [201, 200, 200])
            #expect(Set(calls.map(\.connection)) == [1])
            #expect(calls.filter { $0.method == "GET" }.allSatisfy { $0.path == "/2018-06-01/runtime/invocation/next" })
            for call in calls {
                #expect(call.headers["expect"] == nil)
                #expect(call.headers["transfer-encoding"] == nil)
                #expect(call.headers["user-agent"]?.hasPrefix("auth-apple/") == true)
            }
            #expect(posts.allSatisfy { $0.headers["content-type"] == "application/json" })
            #expect(!running.log.contains("identity_token") && !running.log.contains(subject))
        }
    }

    /// Where the event names no request, Lambda's own name for the run is in the log and in the answer.
    @Test func theRunsOwnIdNamesARequestWithoutOne() throws {
        try withLoop { server, running in
            try server.next(
                .event(#"{"method":"GET","path":"/nowhere"}"#) { $0.id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef" })
            let body = try JSON(text: try #require(try server.posts(1).first).body)["body"]?.string
            #expect(try JSON(text: body ?? "")["request_id"] == "c6af9ac6-7b61-11e6-9a41-93e8deadbeef")
            _ = try server.calls(nexts: 2)
            #expect(running.log.contains(#""request_id":"c6af9ac6-7b61-11e6-9a41-93e8deadbeef""#))
        }
    }

    /// A bare error object would be 200 to the client of an HTTP API; so everything is answered in the envelope.
    @Test(arguments: [
        "", "null", "[]", "\"text\"", "{", "{\"a\":1,\"a\":1}", #"{"identity_token":"a.b.c"}"#,
        #"{"version":"2.0","requestContext":{"http":{"method":"POST"}},"rawPath":"/auth/apple","body":{"a":1}}"#,
        #"{"httpMethod":"POST","requestContext":{"stage":"x"},"path":"/auth/apple","body":"%","isBase64Encoded":true}"#,
    ])
    func aMalformedEventIsAnsweredLikeAnyOther(event: String) throws {
        try withLoop { server, _ in
            try server.next(.event(event), .event(gatewayEvent("GET", "/health")))
            let posts = try server.posts(2)
            #expect(posts.allSatisfy { $0.path.hasSuffix("/response") })
            #expect(try posts.map { try status($0) } == [400, 200])
            let body = try JSON(text: try JSON(text: posts[0].body)["body"]?.string ?? "")
            #expect(body["code"] == "invalid_request")
        }
    }

    @Test func theLargestEventIsReadAndRefusedAndTheNextOneServed() throws {
        try withLoop { server, _ in
            try server.next(Step(size: 6_291_556), Step(size: 70_000), .event(gatewayEvent("GET", "/health")))
            #expect(try server.posts(3).map { try status($0) } == [413, 400, 200])
        }
    }

    /// The client's own limit would be five seconds.
    @Test func nextIsWaitedForWithoutALimit() throws {
        try withLoop { server, running in
            _ = try server.calls(nexts: 1)
            usleep(6_500_000)
            #expect(try running.isRunning && server.calls(nexts: 1).count == 1)
            try server.next(.event(gatewayEvent("GET", "/health")))
            #expect(try status(try server.posts(1).first) == 200)
        }
    }

    @Test func aFailingNextIsTriedAgainAndThenNoMore() throws {
        try withLoop { server, running in
            try server.next(
                Step(status: 500, no_id: true), .event(gatewayEvent("GET", "/health")), Step(drop: true),
                .event(gatewayEvent("GET", "/health")), Step(garbage: true), .event(gatewayEvent("GET", "/health")))
            #expect(try server.posts(3).map { try status($0) } == [200, 200, 200])
            #expect(running.isRunning)
            try server.next(Step(status: 500), Step(status: 403), Step(status: 500))
            #expect(running.end(within: 30) == 70)
            #expect(running.log.contains("next: status 500 (attempt 3 of 3)"))
        }
    }

    /// The name of a run becomes part of an address; one that could lead elsewhere is none.
    @Test(arguments: ["../../init/error", "a/b", "a b", "a?b", "%2e%2e", "é"])
    func anIdThatIsNoNameIsNotUsed(id: String) throws {
        try withLoop { server, running in
            for _ in 0..<3 { try server.next(.event(gatewayEvent("GET", "/health")) { $0.id = id }) }
            #expect(running.end(within: 30) == 70)
            #expect(try server.calls().allSatisfy { $0.method == "GET" })
        }
    }

    @Test func withoutAnIdThereIsNothingToAnswer() throws {
        try withLoop { server, running in
            for _ in 0..<3 { try server.next(.event(gatewayEvent("GET", "/health")) { $0.no_id = true }) }
            #expect(running.end(within: 30) == 70)
        }
    }

    @Test func aRefusedConnectionEndsTheLoop() throws {
        let trial = try TrialFunction()
        let running = try trial.start(adding: ["AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1"])
        #expect(running.end(within: 30) == 70)
        #expect(running.log.contains("http") || running.log.contains("connect"))
    }

    @Test func anAPIThatGoesAwayEndsTheLoop() throws {
        try withLoop { server, running in
            try server.next(.event(gatewayEvent("GET", "/health")))
            _ = try server.calls(posts: 1, nexts: 2)
            try server.refuseConnections()
            #expect(running.end(within: 30) == 70)
        }
    }

    @Test(arguments: [
        "user@127.0.0.1:1", "example.com/..", "", "127.0.0.1:99999", "[::1", "127.0.0.1:1/x?y#z", "\u{1}",
    ])
    func anAddressThatIsNoneNeverHangs(authority: String) throws {
        let trial = try TrialFunction()
        let running = try trial.start(adding: ["AWS_LAMBDA_RUNTIME_API": authority])
        // An empty one is unset: then the end of input is an event that is none.
        #expect(running.end(within: 30) == (authority.isEmpty ? 0 : 70))
    }

    /// Too large, not ours any more, answered before: Lambda knows, and the next event comes. No second response is sent.
    @Test(arguments: [
        (413, #"{"errorType":"RequestEntityTooLarge"}"#), (400, #"{"errorType":"InvalidRequestID"}"#),
        (403, #"{"errorType":"InvalidStateTransition"}"#),
    ])
    func aRefusedResponseIsLoggedAndTheLoopGoesOn(code: Int, body: String) throws {
        try withLoop { server, running in
            try server.post(Step(status: code, body: body))
            try server.next(
                .event(gatewayEvent("GET", "/health")) { $0.id = "twice" },
                .event(gatewayEvent("GET", "/health")) { $0.id = "twice" })
            let calls = try server.calls(posts: 2, nexts: 3)
            #expect(calls.count { $0.method == "POST" } == 2)
            #expect(!calls.contains { $0.path.hasSuffix("/error") })
            #expect(running.log.contains(#""outcome":"runtime""#))
        }
    }

    @Test func aRuntimeThatCannotGoOnIsLeft() throws {
        try withLoop { server, running in
            try server.post(Step(status: 500))
            try server.next(.event(gatewayEvent("GET", "/health")))
            #expect(running.end(within: 30) == 70)
        }
    }

    @Test func aResponseThatCannotBeHandedInIsReported() throws {
        try withLoop { server, running in
            try server.post(
                Step(drop: true), Step(drop: true), Step(drop: true), Step(drop: true), Step(drop: true),
                Step(drop: true))
            let body = TrialFunction.signInBody("001.canary.\(UUID().uuidString)")
            try server.next(.event(gatewayEvent("POST", "/auth/apple", body: body)) { $0.id = "lost" })
            _ = running.end(within: 8)
            let posts = try server.posts(4)
            let report = try #require(posts.first { $0.path.hasSuffix("/invocation/lost/error") })
            #expect(report.headers["lambda-runtime-function-error-type"] == "Runtime.ResponseNotDelivered")
            let json = try JSON(text: report.body)
            #expect(json.object?.members.map(\.name) == ["errorMessage", "errorType", "stackTrace"])
            #expect(json["errorType"] == "Runtime.ResponseNotDelivered")
            #expect(!report.body.contains("canary") && !report.body.contains("eyJ"))
            #expect(!running.log.contains("eyJ"))
        }
    }

    /// The box is frozen while it waits, and while a response is on its way.
    @Test func aFreezeDoesNoHarm() throws {
        try withLoop { server, running in
            _ = try server.calls(nexts: 1)
            running.send(SIGSTOP)
            try server.next(.event(gatewayEvent("GET", "/health")))
            usleep(1_500_000)
            running.send(SIGCONT)
            #expect(try status(try server.posts(1).first) == 200)

            try server.post(Step(delay: 0.3))
            try server.next(.event(gatewayEvent("GET", "/health")))
            _ = try server.posts(2)
            running.send(SIGSTOP)
            usleep(1_500_000)
            running.send(SIGCONT)
            try server.next(.event(gatewayEvent("GET", "/health")))
            let posts = try server.posts(3)
            #expect(try posts.map { try status($0) } == [200, 200, 200])
        }
    }

    @Test func aProxyOfTheEnvironmentIsNotAsked() throws {
        let proxy = "http://127.0.0.1:1"
        let proxies = [
            "http_proxy": proxy, "HTTP_PROXY": proxy, "ALL_PROXY": proxy, "all_proxy": proxy, "HTTPS_PROXY": proxy,
        ]
        try withLoop(adding: proxies) { server, _ in
            try server.next(.event(gatewayEvent("GET", "/health")))
            #expect(try status(try server.posts(1).first) == 200)
        }
    }

    @Test func anExplicitCommandIsFirst() throws {
        let trial = try TrialFunction()
        let extra = ["AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1", "__OW_EXECUTION_ENV": "openwhisk/x"]
        let result = try trial.run(["lines"], input: gatewayEvent("GET", "/health") + "\n", adding: extra)
        #expect(result.status == 0)
        #expect(try JSON(text: String(result.output.dropLast()))["statusCode"] == .integer(200))
    }

    // MARK: Configuration

    /// The public is told nothing of it, the log which variable it is.
    @Test func withoutConfigurationEveryEventIsAnswered500() throws {
        try withLoop(removing: ["AUTH_APPLE_AUDIENCES"]) { server, running in
            try server.next(
                .event(gatewayEvent("POST", "/auth/apple", body: "{}")), .event(gatewayEvent("GET", "/health")))
            let posts = try server.posts(2)
            #expect(try posts.map { try status($0) } == [500, 500])
            #expect(posts.allSatisfy { $0.path.hasSuffix("/response") && !$0.body.contains("AUTH_APPLE") })
            #expect(running.log.contains("AUTH_APPLE_AUDIENCES"))
        }
    }

    /// Such a version has no traffic yet and must not get any.
    @Test func withProvisionedConcurrencyAWrongConfigurationFailsTheDeployment() throws {
        let provisioned = ["AWS_LAMBDA_INITIALIZATION_TYPE": "provisioned-concurrency"]
        try withLoop(adding: provisioned, removing: ["AUTH_APPLE_AUDIENCES"]) { server, running in
            #expect(running.end(within: 30) == 78)
            let calls = try server.calls()
            #expect(calls.map(\.path) == ["/2018-06-01/runtime/init/error"])
            #expect(calls.first?.headers["lambda-runtime-function-error-type"] == "Runtime.NotConfigured")
            let json = try JSON(text: calls.first?.body ?? "")
            #expect(json["errorType"] == "Runtime.NotConfigured")
            #expect(json["stackTrace"]?.array == [])
            #expect(running.log.contains("AUTH_APPLE_AUDIENCES"))
        }
        try withLoop(adding: provisioned) { server, _ in
            try server.next(.event(gatewayEvent("GET", "/health")))
            #expect(try status(try server.posts(1).first) == 200)
        }
    }

    // MARK: Time

    private func milliseconds(fromNow seconds: Double) -> Int64 {
        Int64((Date().timeIntervalSince1970 + seconds) * 1000)
    }

    /// A fetch that the end of the run would cut off is not begun; one that may take too long is given up in time.
    @Test func theKeysAreNotFetchedPastTheDeadline() throws {
        let keys = try #require(TokenForge.keys.keySet).json.text
        try LoopbackServer.run(.init(200, keys).with { $0.delay = 4 }) { apple in
            try withLoop(adding: ["AUTH_APPLE_KEYS_URL": apple.plainURL()]) { server, _ in
                let event = gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody("001.deadline"))
                let past = milliseconds(fromNow: -1)
                try server.next(.event(event) { $0.deadline_ms = past })
                #expect(try status(try server.posts(1).first) == 503)
                #expect(try apple.requests().isEmpty)
            }
            try withLoop(adding: ["AUTH_APPLE_KEYS_URL": apple.plainURL()]) { server, _ in
                let event = gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody("001.deadline"))
                _ = try server.calls(nexts: 1)
                let soon = milliseconds(fromNow: 2)
                try server.next(.event(event) { $0.deadline_ms = soon })
                #expect(try status(try server.posts(1).first) == 503)
                #expect(milliseconds(fromNow: 0) < soon)
                #expect(try apple.requests().count == 1)
            }
        }
    }

    /// Stale keys are renewed once the response is handed in, before the next event is asked for.
    @Test func theClientDoesNotWaitForARenewal() throws {
        let keys = try #require(TokenForge.keys.keySet).json.text
        let trial = try TrialFunction()
        try LoopbackServer.run(.init(200, keys)) { apple in
            trial.environment["AUTH_APPLE_KEYS_URL"] = apple.plainURL()
            let first = try trial.run(
                input: gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody("001.stale")))
            try #require(first.output.contains(#""statusCode":201"#))
            try Self.age(trial.folder.appending(path: "cache/apple-keys.json"))
            try apple.answer(.init(200, keys).with { $0.delay = 1.5 })

            try RuntimeAPIServer.run { server in
                let running = try trial.start(adding: ["AWS_LAMBDA_RUNTIME_API": server.authority])
                try server.next(
                    .event(gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody("001.stale"))))
                let calls = try server.calls(posts: 1, nexts: 2)
                try #require(calls.map(\.method) == ["GET", "POST", "GET"])
                #expect([200, 201].contains(try status(calls[1])))
                #expect(calls[1].time - calls[0].time < 1.2)
                #expect(calls[2].time - calls[1].time > 1.2)
                #expect(try apple.requests().count == 2)
                #expect(running.log.contains(#""key_cache":"stale""#))
            }
        }
    }

    /// Makes a key cache's file two hours older than it is, so that its keys are still good but no longer fresh.
    static func age(_ file: URL) throws {
        var text = try String(contentsOf: file, encoding: .utf8)
        for number in Set(text.matches(of: /[0-9]{13}/).map { String($0.output) }) {
            text.replace(number, with: String(try #require(Int64(number)) - 7_200_000))
        }
        try Data(text.utf8).write(to: file)
    }
}
