import Foundation
import JOSE
import TestSupport
import Testing

/// The ActionLoop: every line in gets one line on descriptor 3, and nothing else gets there.
@Suite struct OpenWhiskTests {
    private func activate(
        _ lines: [String], adding extra: [String: String] = ["__OW_EXECUTION_ENV": "openwhisk/action-swift"],
        _ change: (TrialFunction) -> Void = { _ in }
    ) throws -> (status: Int32, results: [JSON], log: String) {
        let trial = try TrialFunction()
        change(trial)
        let proxy = try trial.run(
            [Programs.built("auth-apple").path()],
            program: ["/usr/bin/env", "python3", RuntimeAPIServer.script("ActionLoopProxy.py")],
            input: lines.map { $0 + "\n" }.joined(), adding: extra)
        let results = try proxy.output.split(separator: "\n").map { try JSON(text: String($0)) }
        return (proxy.status, results, proxy.log)
    }

    private func activation(_ value: String) -> String {
        #"{"value":\#(value.filter { $0 != "\n" }),"namespace":"guest","action_name":"/guest/auth","api_host":"x","api_key":"secret-canary","#
            + #""activation_id":"3b6a5d1fa8d24e7aaa5d1fa8d24e7a11","transaction_id":"t","deadline":"4102444800000"}"#
    }

    private func raw(_ method: String, _ path: String, _ body: String = "") -> String {
        #"{"__ow_method":"\#(method)","__ow_path":"\#(path)","__ow_query":"","__ow_headers":{"content-type":"application/json"},"#
            + #""__ow_body":"\#(Data(body.utf8).base64EncodedString())"}"#
    }

    private func merged(_ body: String) -> String {
        #"{"__ow_method":"post","__ow_path":"/auth/apple","__ow_headers":{"content-type":"application/json"},"#
            + body.dropFirst()
    }

    @Test func aPersonSignsInWithRawHTTPAndWithout() throws {
        let body = TrialFunction.signInBody("001.whisk")
        let (status, results, log) = try activate([
            activation(raw("post", "/auth/apple", body)), activation(merged(body)), activation(raw("get", "/health")),
        ])
        #expect(status == 0)
        #expect(results.map { $0["statusCode"]?.integer } == [201, 200, 200])
        #expect(results[0].object?.members.map(\.name) == ["statusCode", "headers", "body"])
        #expect(results[0]["body"]?["user"]?["full_name"] == "Ana Ruiz")
        #expect(results[0]["body"]?["user"]?["id"] == results[1]["body"]?["user"]?["id"])
        #expect(log.contains(#""request_id":"3b6a5d1fa8d24e7aaa5d1fa8d24e7a11""#))
        #expect(!log.contains("secret-canary") && !log.contains("eyJ"))
    }

    @Test func theAcknowledgementComesFirst() throws {
        let (status, results, _) = try activate(
            [activation(raw("get", "/health"))], adding: ["__OW_WAIT_FOR_ACK": "true"])
        #expect(status == 0)
        #expect(results.first == ["ok": .bool(true)])
        #expect(results.dropFirst().map { $0["statusCode"]?.integer } == [200])
    }

    /// No line would leave the caller waiting, and two would answer somebody else.
    @Test func everyLineHasOneResult() throws {
        let garbage = [
            "", "garbage", "{", "null", "[]", "{}", #"{"value":1}"#, #"{"value":null}"#, #"{"value":{}}"#,
            #"{"value":{"identity_token":"x"}}"#, activation(#"{"__ow_method":""}"#),
            activation(#"{"__ow_method":"post"}"#),
            activation(#"{"__ow_method":"post","__ow_headers":7}"#), activation(raw("post", "/auth/apple", "{")),
            String(repeating: "x", count: 600_000),
        ]
        let (status, results, _) = try activate(garbage + [activation(raw("get", "/health"))])
        #expect(status == 0)
        #expect(results.count == garbage.count + 1)
        let codes = results.map { $0["statusCode"]?.integer ?? 0 }
        #expect(codes.dropLast().allSatisfy { (400..<500).contains($0) }, "\(codes)")
        #expect(codes.last == 200)
        #expect(codes[codes.count - 2] == 413)
        // What was not even read is answered in OpenWhisk's form as well: a problem as text would be taken for base64.
        for result in [results[1], results[6], results[codes.count - 2]] {
            #expect(result["body"]?["status"] == result["statusCode"] && result["isBase64Encoded"] == nil)
        }
    }

    @Test func withoutConfigurationEveryActivationIsAnswered500() throws {
        let (status, results, log) = try activate(
            [activation(raw("get", "/health")), activation(raw("get", "/health"))], adding: ["__OW_WAIT_FOR_ACK": "1"]
        ) { $0.environment["AUTH_APPLE_AUDIENCES"] = nil }
        #expect(status == 78)
        #expect(results.dropFirst().map { $0["statusCode"]?.integer } == [500, 500])
        #expect(log.contains("AUTH_APPLE_AUDIENCES"))
    }

    @Test func theDeadlineHoldsForTheKeys() throws {
        let keys = try #require(TokenForge.keys.keySet).json.text
        try LoopbackServer.run(.init(200, keys)) { apple in
            let late = activation(raw("post", "/auth/apple", TrialFunction.signInBody("001.late")))
                .replacing("4102444800000", with: "1000000000000")
            let (_, results, _) = try activate([late]) { $0.environment["AUTH_APPLE_KEYS_URL"] = apple.plainURL() }
            #expect(results.map { $0["statusCode"]?.integer } == [503])
            #expect(try apple.requests().isEmpty)
        }
    }

    /// By hand there is no descriptor 3: that is said, and nothing hangs.
    @Test func withoutDescriptor3TheProgramEnds() throws {
        let trial = try TrialFunction()
        let result = try trial.run(
            [Programs.built("auth-apple").path()], program: ["/bin/sh", "-c", #"exec "$0" 3>&-"#],
            adding: ["__OW_WAIT_FOR_ACK": "1"])
        #expect(result.status == 70)
        #expect(result.log.contains("descriptor 3"))
    }
}
