// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// schemathesis makes requests of the description, good ones and bad ones, alone and in chains along its links, through each
/// web server, and holds the answers against it. `SCHEMATHESIS_SECONDS` makes it go on for so long with each server, and
/// with requests that no run before had.
@Suite(.serialized) struct SchemathesisTests {
    private static let seconds = ProcessInfo.processInfo.environment["SCHEMATHESIS_SECONDS"]

    /// How many requests of an operation are made up, and how many chains. lighttpd has the most: what differs between servers
    /// is few things, and what is the function's own is seen with any.
    struct Effort: CustomTestStringConvertible {
        let kind: WebServer.Kind
        let examples: Int
        var testDescription: String { kind.rawValue }
    }

    private static let efforts = [
        Effort(kind: .lighttpd, examples: 20), Effort(kind: .apacheCGID, examples: 6),
        Effort(kind: .nginx, examples: 6),
    ]

    @Test(arguments: efforts)
    func noAnswerOfTheFunctionBehindAWebServerIsOutsideTheDescription(_ effort: Effort) throws {
        let tools = try OpenAPIDocument.tools()
        let site = try CGISite()
        // Or whatever is in the place of a code would be passed over.
        site.environment["AUTH_APPLE_CODE_MISMATCH"] = "ignore"
        // No token runs out while it is at it.
        site.environment["AUTH_APPLE_ACCESS_TOKEN_SECONDS"] = "86400"
        site.environment["AUTH_APPLE_DELETION_SESSION_SECONDS"] = "86400"
        // A refresh token that comes twice is a lost answer behind one server, and a thief behind the others.
        if effort.kind != .lighttpd { site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "0" }
        try WebServer.run(effort.kind, site) { server in
            let folder = server.configuration.folder
            let file = { (name: String) in folder.appending(path: name) }
            try JSONSerialization.data(withJSONObject: Self.prepare(server, file("openapi.yaml")))
                .write(to: file("tokens.json"))
            let bounds = Self.seconds.map { ["--max-time", $0] } ?? ["--seed", "4"]
            // In its own folder: it keeps what it found where it runs.
            let ran = try Ran(
                [
                    "/usr/bin/env", "-C", folder.path(), tools.appending(path: "st").path(), "--config-file",
                    Self.toolsFolder.appending(path: "schemathesis.toml").path(), "run", file("openapi.yaml").path(),
                    "--url", "http://127.0.0.1:\(server.port)", "--phases", "examples,coverage,fuzzing,stateful",
                    "--max-examples", "\(effort.examples)", "--workers", "1", "--request-timeout", "20", "--no-color",
                    "--generation-database", "none",
                ] + bounds,
                environment: [
                    "OPENAPI_TOKENS": file("tokens.json").path(), "OPENAPI_TALLY": file("tally.json").path(),
                    "OPENAPI_SERVER": effort.kind.isApache ? "apache" : effort.kind == .nginx ? "nginx" : "lighttpd",
                    "LC_ALL": "C.UTF-8", "NO_PROXY": "*", "HOME": folder.path(), "PATH": "/usr/bin:/bin",
                    "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": Self.toolsFolder.path(),
                ])
            let report = Programs.packageRoot.appending(path: ".build/openapi-tools/schemathesis-\(effort.kind).txt")
            let tally = (try? Data(contentsOf: file("tally.json"))) ?? Data()
            try Data("\(ran.text)\n\(String(decoding: tally, as: UTF8.self))\n".utf8).write(to: report)
            #expect(ran.status == 0, "what it found is in \(report.path())")
            try Self.expectChains(in: ran.text, tally)
            #expect(!server.log().contains("Fatal error"))
        }
    }

    /// Or nothing was said of chains: links were followed, and what followed an end was refused. Which ones is drawn anew in
    /// each run; a long one follows all whose beginning can be reached. A code of the web flow cannot be made up, so nothing
    /// begins at its exchange.
    private static func expectChains(in report: String, _ tally: Data) throws {
        let links = try #require(report.firstMatch(of: /API Links:\s+(\d+) covered \/ (\d+) selected \/ (\d+) total/))
        let document = try OpenAPIDocument()
        #expect(Int(links.3) == document.links.count)
        let reachable = document.links.count { $0.operation != "exchange" }
        let covered = try #require(Int(links.1))
        #expect(covered >= (seconds == nil ? reachable / 2 : reachable), "\(links.0)")
        // A value that a link could not find is told apart; a logout without a body has none to find.
        for lost in report.matches(of: /(?m)^ +(\w+ \S+) -> \[\d+\] \w+ ->/) {
            #expect(lost.1 == "POST /auth/logout", "\(lost.0)")
        }
        let counts = try JSONSerialization.jsonObject(with: tally) as? [String: Int] ?? [:]
        for matter in ["served while alive", "refused when over", "refreshed"] {
            #expect(counts[matter] ?? 0 > 0, "\(matter): \(counts)")
        }
    }
}

extension SchemathesisTests {
    private static let toolsFolder = Programs.packageRoot.appending(path: "Tests/Tools")

    /// Writes the description as it is here, and gives an access token for each operation that wants one of its own.
    private static func prepare(_ server: WebServer, _ description: URL) throws -> [String: String] {
        var tokens: [String: String] = [:]
        for operation in ["account", "logOut", "endOtherSessions", "endSession", "deleteAccount"] {
            tokens[operation] = try signIn(server, "001.\(operation).1")["access_token"] as? String
        }
        let second = try signIn(server, "001.endSession.1")
        let refreshTokens = try (1...2).map { _ in
            try #require(signIn(server, "001.refresh.1")["refresh_token"] as? String)
        }
        try document(
            identityTokens: (1...24).map { try token("001.signIn.\($0)") },
            refreshToken: refreshTokens[0], refreshTokenToEnd: refreshTokens[1],
            sessionID: try #require((second["session"] as? [String: Any])?["id"] as? String)
        ).write(to: description, atomically: true, encoding: .utf8)
        return tokens
    }

    /// A person who signs in.
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

    /// The description with tokens that are good in place of those that only look it. Who signs in is one of many.
    private static func document(
        identityTokens: [String], refreshToken: String, refreshTokenToEnd: String, sessionID: String
    ) throws -> String {
        var text = try String(contentsOf: OpenAPIDocument.file, encoding: .utf8)
        let identityToken = "The JWT that Apple gave the app.\n          type: string"
        let examples = [
            (try Regex(#"identity_token: eyJ[\w.-]+"#), "identity_token: \(identityTokens[0])"),
            (
                try Regex(NSRegularExpression.escapedPattern(for: identityToken)),
                "\(identityToken)\n          enum: [\(identityTokens.joined(separator: ", "))]"
            ),
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
}
#endif
