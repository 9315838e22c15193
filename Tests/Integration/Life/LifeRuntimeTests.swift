#if SQLite
import Foundation
import JOSE
import TestSupport
import Testing

/// What is left to do at Apple, where one process serves many requests: it comes after the answer, and before the next request.
@Suite struct LifeRuntimeTests {
    /// Lambda freezes the box once the next event is asked for, so all must be done by then; and no client may wait for it.
    @Test func onLambdaItIsDoneBetweenTheAnswerAndTheNextEvent() throws {
        try LifeSite.run { life in
            try RuntimeAPIServer.run { server in
                let log = life.site.folder.appending(path: "log")
                let running = try RunningFunction(
                    environment: life.site.environment.merging(["AWS_LAMBDA_RUNTIME_API": server.authority]) { $1 },
                    logFile: log)
                try life.order("/simulator/faults", ["endpoint": "/auth/token", "delay": 700])
                try life.order("/simulator/faults", ["endpoint": "/auth/revoke", "delay": 700])

                try server.next(.event(text(LifeSite.event(life.person()))))
                let answer = try answer(to: 1, of: server)
                #expect(answer["statusCode"]?.integer == 201)
                #expect(try life.requests("/auth/token") == 1)
                let tokens = try JSON(text: answer["body"]?.string ?? "")
                let accessToken = try #require(tokens["access_token"]?.string)

                try server.next(.event(text(LifeSite.deletion(accessToken))))
                #expect(try self.answer(to: 2, of: server)["statusCode"]?.integer == 204)
                #expect(try life.requests("/auth/revoke") == 1)
                #expect(running.log.contains(#""reason":"kept""#) && running.log.contains(#""reason":"revoked""#))
                #expect(running.isRunning)
            }
        }
    }

    @Test func onOpenWhiskItIsDoneBetweenTheResultAndTheNextActivation() throws {
        try LifeSite.run { life in
            let proxy = try Ran(
                "/usr/bin/env", "python3", RuntimeAPIServer.script("ActionLoopProxy.py"),
                Programs.built("auth-apple").path(),
                environment: life.site.environment.merging(["__OW_EXECUTION_ENV": "openwhisk/action-swift"]) { $1 },
                input: Data([activation(LifeSite.event(life.person())), #"{"value":{}}"#].joined(separator: "\n").utf8))
            let results = String(decoding: proxy.output, as: UTF8.self).split(separator: "\n")
            #expect(try JSON(text: String(try #require(results.first)))["statusCode"]?.integer == 201, "\(proxy.text)")
            #expect(try life.requests("/auth/token") == 1)
            let lines = String(decoding: proxy.errors, as: UTF8.self).split(separator: "\n")
            #expect(lines.map { $0.contains(#""outcome":"apple_exchange""#) } == [false, true, false], "\(lines)")
        }
    }

    private func text(_ event: Data) -> String { String(decoding: event, as: UTF8.self) }

    private func activation(_ event: Data) -> String {
        #"{"value":\#(text(event)),"activation_id":"3b6a5d1fa8d24e7a"}"#
    }

    /// The answer to an event, once the one after it is asked for; it must have come well before.
    private func answer(to number: Int, of server: RuntimeAPIServer) throws -> JSON {
        let calls = try server.calls(posts: number, nexts: number + 1)
        let post = try #require(calls.last { $0.method == "POST" })
        let next = try #require(calls.last { $0.method == "GET" })
        #expect(calls.count == 2 * number + 1 && next.time - post.time > 0.7, "the client waited")
        return try JSON(text: post.body)
    }
}
#endif
