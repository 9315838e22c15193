// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// The log, read as `deploy/operating.md` says: behind each web server, by its recipes, and as metrics.
@Suite struct OperatingLogTests {
    /// Where each server puts the function's lines, by what the page calls the place.
    private static let logs: [(kind: WebServer.Kind, file: String, place: String)] = [
        (.apacheCGID, "main.log", "/var/log/apache2/error.log"),
        (.apacheCGI, "auth-apple.error.log", "/var/log/apache2/auth-apple.error.log"),
        (.nginx, "auth-apple.error.log", "/var/log/nginx/auth-apple.error.log"),
        (.lighttpd, "standard-error-0.log", "journalctl -u lighttpd -o cat"),
    ]

    @Test(arguments: logs.indices)
    func itIsReadBehindEveryServer(index: Int) throws {
        let (kind, file, place) = Self.logs[index]
        let page = try OperatingPage()
        #expect(try page.section("What to watch").contains(place))
        try WebServer.run(kind, try CGISite()) { server in
            #expect(try server.signIn().status == 201)
            let refused = Data(#"{"identity_token":"a.b.c","deviceInfo":{}}"#.utf8)
            for _ in 1...2 { #expect(try server.signIn(body: refused).status == 401) }
            #expect(try server.send("GET", "/health").status == 200)
            #expect(try server.send("GET", "/nowhere").status == 404)
            let log = server.configuration.folder.appending(path: file).path()
            let environment = ["LOG": log, "PATH": "/usr/bin:/bin"]

            // The server writes when it likes.
            let reader = try page.commands("What to watch")
            let isWritten = waitUntil(seconds: 5) {
                let ran = try? OperatingPage.run(reader + ["log | jq .status"], environment: environment)
                return ran?.output.count { $0 == 0x0A } == 5
            }
            #expect(isWritten, "\(kind.rawValue): \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")

            let recipes = try page.commands("By hand").map { recipe in
                let ran = try OperatingPage.run(reader + [recipe], environment: environment)
                #expect(ran.status == 0 && ran.errors.isEmpty, "\(recipe) \(ran.text)")
                return ran.text
            }
            try #require(recipes.count == 6)
            #expect(recipes[0].contains("2 POST /auth/apple 401") && recipes[0].contains("1 GET /health 200"))
            #expect(recipes[1].contains(/POST \/auth\/apple\t3\t[\d.]+\t[\d.]+\t[\d.]+\n/))
            #expect(recipes[2] == "malformed\t2\t40 %\n")
            #expect(recipes[3].contains("1 refreshed"))
            #expect(recipes[4].isEmpty && recipes[5].isEmpty)

            let metrics = try Self.metrics(of: log)
            let expected = [
                #"{outcome="invalid_token",prog="auth-apple.mtail",route="POST /auth/apple",status="401"} 2"#,
                #"{outcome="not_found",prog="auth-apple.mtail",route="",status="404"} 1"#,
                #"auth_apple_refusals_total{prog="auth-apple.mtail",reason="malformed",route="POST /auth/apple"} 2"#,
                #"auth_apple_duration_milliseconds_count{prog="auth-apple.mtail",route="POST /auth/apple"} 3"#,
                #"auth_apple_key_lookups_total{key_cache="refreshed",prog="auth-apple.mtail"} 1"#,
                #"auth_apple_accounts_created_total{prog="auth-apple.mtail"} 1"#,
            ]
            for line in expected { #expect(metrics.contains(line + "\n"), "\(line): \(metrics)") }
        }
    }

    @Test func itsOtherLinesAreCountedAsWell() throws {
        let site = try FunctionSite()
        let log = site.folder.appending(path: "log")
        let event = try FunctionSite.event("GET", "/health", body: [:])
        var lines = Data()
        // Nobody reads the answer.
        let lost = try Ran(
            "/bin/sh", "-c", "auth-apple >/dev/full; echo $?", environment: site.environment, input: event)
        #expect(String(decoding: lost.output, as: UTF8.self) == "74\n")
        lines += lost.errors
        // A cache file that is none, a store that cannot be, and no configuration at all.
        let cache = site.folder.appending(path: "cache")
        try FileManager.default.createDirectory(
            at: cache, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("none".utf8).write(to: cache.appending(path: "apple-keys.json"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: cache.appending(path: "apple-keys.json").path())
        site.environment["AUTH_APPLE_STORE"] = "sqlite:/proc/none/accounts.sqlite"
        lines += try site.run(input: site.event(token: site.token())).errors
        site.environment["AUTH_APPLE_AUDIENCES"] = nil
        let unconfigured = try site.run(input: event)
        #expect(unconfigured.status == 78)
        lines += unconfigured.errors
        try lines.write(to: log)

        let metrics = try Self.metrics(of: log.path())
        for line in [
            #"auth_apple_answers_not_written_total{prog="auth-apple.mtail"} 1"#,
            #"auth_apple_key_cache_notes_total{note="cache file",prog="auth-apple.mtail"} 1"#,
            #"auth_apple_not_configured_total{prog="auth-apple.mtail"} 1"#,
            #"auth_apple_requests_total{outcome="internal",prog="auth-apple.mtail",route="",status="500"} 1"#,
            #"outcome="store_unavailable",prog="auth-apple.mtail",route="POST /auth/apple",status="503"} 1"#,
        ] { #expect(metrics.contains(line + "\n"), "\(line): \(metrics)") }

        let page = try OperatingPage()
        let failures = try OperatingPage.run(
            page.commands("What to watch") + [page.commands("By hand")[4]],
            environment: ["LOG": log.path(), "PATH": "/usr/bin:/bin"])
        #expect(failures.text.contains("SQLite /proc/none") && failures.text.contains("not_configured"))
    }

    /// What a server says by itself, when there is no line of ours.
    @Test(arguments: [WebServer.Kind.apacheCGID, .nginx, .lighttpd])
    func whatServersAnswerForAProgramThatFailsIsOnThePage(kind: WebServer.Kind) throws {
        let rows = try OperatingPage().section("A 5xx that is not ours").split(separator: "\n")
        let name = kind.isApache ? "Apache" : kind == .nginx ? "nginx" : "lighttpd"
        for script in ["exit 1", "kill -9 $$", "exec /nowhere"] {
            let site = try CGISite()
            let program = site.folder.appending(path: "auth-apple")
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: program)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path())
            try WebServer.run(kind, site, program: program) { server in
                let answer = try server.send("GET", "/health")
                let isTold = rows.contains { $0.hasPrefix("| \(answer.status) |") && $0.contains(name) }
                #expect(isTold, "\(name), \(script): \(answer.status)")
                #expect(!answer.text.contains("request_id"))
            }
        }
    }

    static func metrics(of log: String) throws -> String {
        let programs = Programs.packageRoot.appending(path: "deploy/mtail").path()
        let ran = try Ran(
            "/usr/bin/mtail", "--one_shot", "--one_shot_format=prometheus", "--progs", programs, "--logs", log)
        #expect(ran.status == 0, "\(ran.text)")
        return String(decoding: ran.output, as: UTF8.self)
    }
}

/// Whether it becomes true in that time.
func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    repeat {
        if condition() { return true }
        usleep(50_000)
    } while Date() < end
    return false
}
#endif
