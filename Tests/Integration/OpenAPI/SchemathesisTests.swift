// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// schemathesis makes requests of the description, good ones and bad ones, and holds the answers against it.
@Suite struct SchemathesisTests {
    /// A person who signs in, and in how many sessions.
    private static func signIn(_ server: WebServer, _ subject: String) throws -> [String: Any] {
        let body: [String: Any] = ["identity_token": try token(subject), "deviceInfo": ["name": "schemathesis"]]
        let answer = try server.signIn(body: JSONSerialization.data(withJSONObject: body))
        try #require(answer.status < 300, "\(answer.text)")
        return answer.json
    }

    private static func token(_ subject: String) throws -> String {
        let folder = Installed.shared.folder
        let environment = [
            "APPLE_SIMULATOR_KEYS": folder.appending(path: "simulator/keys.json").path(),
            "APPLE_SIMULATOR_AUDIENCE": "com.example.app",
        ]
        let ran = try Ran(
            folder.appending(path: "apple-simulator").path(), "token", "--subject", subject, environment: environment)
        return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The description with tokens that are good in place of those that only look it.
    private static func document(
        identityToken: String, refreshToken: String, refreshTokenToEnd: String, sessionID: String
    ) throws -> String {
        var text = try String(contentsOf: OpenAPIDocument.file, encoding: .utf8)
        let examples = [
            (try Regex(#"identity_token: eyJ[\w.-]+"#), "identity_token: \(identityToken)"),
            (try Regex(#"refresh_token: AZK[\w-]{83}"#), "refresh_token: \(refreshToken)"),
            (try Regex(#"refresh_token: AZL[\w-]{83}"#), "refresh_token: \(refreshTokenToEnd)"),
            (try Regex(#"example: 0192b96b[0-9a-f-]+"#), "example: \(sessionID)"),
            (try Regex(#"format: uri, maxLength: 512"#), "enum: ['com.example.app:/signed-in']"),
        ]
        for (example, good) in examples {
            try #require(text.contains(example))
            text.replace(example, with: good)
        }
        return text
    }

    @Test func noAnswerOfTheFunctionBehindAWebServerIsOutsideTheDescription() throws {
        let tools = try OpenAPIDocument.tools()
        let site = try CGISite()
        // Or whatever is in the place of a code would be passed over.
        site.environment["AUTH_APPLE_CODE_MISMATCH"] = "ignore"
        try WebServer.run(.lighttpd, site) { server in
            var tokens: [String: String] = [:]
            for operation in ["account", "logOut", "endOtherSessions", "endSession", "deleteAccount"] {
                tokens[operation] = try Self.signIn(server, "001.\(operation).1")["access_token"] as? String
            }
            let second = try Self.signIn(server, "001.endSession.1")
            let refreshTokens = try (1...2).map { _ in
                try #require(Self.signIn(server, "001.refresh.1")["refresh_token"] as? String)
            }
            let file = { (name: String) in server.configuration.folder.appending(path: name) }
            try JSONSerialization.data(withJSONObject: tokens).write(to: file("tokens.json"))
            try Self.document(
                identityToken: Self.token("001.signIn.1"),
                refreshToken: refreshTokens[0], refreshTokenToEnd: refreshTokens[1],
                sessionID: try #require((second["session"] as? [String: Any])?["id"] as? String)
            ).write(to: file("openapi.yaml"), atomically: true, encoding: .utf8)

            // No state that it makes up is one that we sealed.
            try """
            [[operations]]
            include-operation-id = "finish"
            checks.positive_data_acceptance.enabled = false
            """.write(to: file("schemathesis.toml"), atomically: true, encoding: .utf8)

            // In its own folder: it keeps what it found where it runs.
            let ran = try Ran(
                "/usr/bin/env", "-C", server.configuration.folder.path(), tools.appending(path: "st").path(), "run",
                file("openapi.yaml").path(), "--url",
                "http://127.0.0.1:\(server.port)", "--phases", "examples,coverage,fuzzing",
                "--seed", "4", "--max-examples", "60", "--workers", "1", "--request-timeout", "20", "--no-color",
                "--generation-database", "none",
                environment: [
                    "OPENAPI_TOKENS": file("tokens.json").path(), "LC_ALL": "C.UTF-8", "NO_PROXY": "*",
                    "HOME": server.configuration.folder.path(), "PATH": "/usr/bin:/bin",
                    "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
                    "PYTHONPATH": Programs.packageRoot.appending(path: "Tests/Tools").path(),
                ])
            let report = Programs.packageRoot.appending(path: ".build/openapi-tools/schemathesis.txt")
            try Data(ran.text.utf8).write(to: report)
            #expect(ran.status == 0, "what it found is in \(report.path())")
        }
    }
}
#endif
