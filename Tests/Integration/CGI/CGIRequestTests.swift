// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import Testing

/// Requests that web servers are known to hand on differently, or that somebody sends on purpose.
@Suite struct CGIRequestTests {
    typealias Kind = WebServer.Kind

    /// Apache makes arguments of a query without `=`, for POST as well.
    @Test(arguments: Kind.allCases)
    func aQueryIsNeverACommand(kind: Kind) throws {
        let site = try CGISite()
        try WebServer.run(kind, site) { server in
            for query in ["--help", "lines", "--version", "keys+new", "keys+rotate+--force", "store+purge", "check"] {
                let get = try server.send("GET", "/health?\(query)")
                #expect(get.status == 200 && get.text == #"{"status":"ok"}"#, "\(query)")
                let post = try server.signIn("/auth/apple?\(query)")
                #expect([200, 201].contains(post.status), "\(query): \(post.text)")
            }
            let keys = { try Data(contentsOf: $0) }
            #expect(
                try keys(site.folder.appending(path: "private/signing-keys.json"))
                    == keys(Installed.shared.signingKeys))
        }
    }

    @Test(arguments: Kind.allCases)
    func bodiesOfEveryKindAndSize(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let body = try Installed.shared.signInBody()
            let padded = { (size: Int) in body + Data(repeating: 0x20, count: size - body.count) }

            #expect(try server.signIn().status == 201)
            #expect(try server.signIn(headers: ["Transfer-Encoding: chunked"]).status == 200)
            #expect(try server.signIn(headers: ["Expect: 100-continue"]).status == 200)
            #expect(try server.signIn(body: padded(65_536)).status == 200)
            #expect(try server.signIn(headers: ["Transfer-Encoding: chunked"], body: padded(65_536)).status == 200)

            for headers in [[], ["Transfer-Encoding: chunked"], ["Expect: 100-continue"]] {
                let over = try server.signIn(headers: headers, body: padded(65_537))
                #expect(over.status == 413 && over.code == "content_too_large", "\(headers): \(over.text)")
                // Past the server's own limit the words are the server's.
                let far = try server.signIn(headers: headers, body: padded(1 << 20))
                #expect(far.status == 413, "\(headers): \(far.status)")
            }
            let empty = try server.signIn(body: Data())
            #expect(empty.status == 400 && empty.code == "invalid_request")
            // A body where none is read is taken off the connection all the same: the next request is understood.
            let get = try server.send(
                "GET", "/health", headers: ["Content-Type: text/plain"], body: padded(30_000),
                options: ["--next", "--silent", "--output", "/dev/null", "http://127.0.0.1:\(server.port)/health"])
            #expect(get.status == 200 || (kind.isLighttpd && get.status == 400), "\(get.status)")
            #expect(get.exitStatus == 0)
        }
    }

    @Test(arguments: Kind.allCases)
    func headHasNoBody(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            for (path, status) in [("/health", 200), ("/auth/apple", 405), ("/auth/nothing", 404)] {
                let raw = try Loopback.exchange(
                    server.port,
                    [Data("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)])
                #expect(raw.status == status && raw.body.isEmpty, "\(path): \(raw.status)")
                #expect(raw[field: "content-type"]?.hasPrefix("application/") == true)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func everyPathOfTheHostIsAnsweredByTheFunction(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            for path in [
                "/", "/auth", "/auth/", "/auth/apple/", "/auth/applet", "/AUTH/APPLE", "/auth/apple/x", "/index.html",
            ] {
                let answer = try server.signIn(path)
                #expect(answer.status == 404 && answer.code == "not_found", "\(path): \(answer.status)")
            }
        }
    }

    /// Written in another way, a path that exists is none: what stands in front may have read it in yet another.
    @Test(arguments: Kind.allCases)
    func aPathThatCanBeReadInTwoWaysIsRefused(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            for path in [
                "//auth/apple", "/auth//apple", "/auth/./apple", "/auth/x/../apple", "/x/../auth/apple",
                "/auth%2Fapple",
                "/auth/%61pple", "/auth/apple%00", "/auth/apple%3F", "/auth/apple;x=1", "/auth/apple%20",
                "/auth/apple/.",
                "/auth/%2e%2e/auth/apple", "/%2fauth/apple",
            ] {
                let answer = try server.signIn(path)
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status)")
            }
            // Absolute form (RFC 9112 §3.2.2) is the same path, written as to a proxy.
            let absolute = try server.send(
                "GET", "/health", options: ["--request-target", "http://127.0.0.1:\(server.port)/health"])
            #expect(absolute.status == 200)
        }
    }

    /// One of the two would be read here, and perhaps the other one in front.
    @Test(arguments: Kind.allCases)
    func aRepeatedFieldThatDecidesIsNeverChosenFrom(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let body = String(decoding: try Installed.shared.signInBody(), as: UTF8.self)
            let length = "Content-Length: \(body.utf8.count)"
            let type = "Content-Type: application/json"
            let send = { (fields: [String]) in
                let head = ["POST /auth/apple HTTP/1.1", "Connection: close"] + fields
                return try Loopback.exchange(
                    server.port, [Data((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)])
            }
            #expect(try [200, 201].contains(send(["Host: a", length, type]).status))
            #expect(try send(["Host: a", "Host: b", length, type]).status == 400)
            #expect(try send(["Host: a", length, "Content-Length: 2", type]).status == 400)
            #expect(try [400, 415].contains(send(["Host: a", length, type, "Content-Type: text/plain"]).status))
            #expect(try [400, 415].contains(send(["Host: a", length, "Content-Type: text/plain", type]).status))
            for fields in [["Authorization: Bearer a", "Authorization: Bearer b"], ["Cookie: a=1", "Cookie: b=2"]] {
                let answer = try send(["Host: a", length, type] + fields)
                // nginx hands on both or refuses them itself; the others join them as RFC 3875 §4.1.18 says, or refuse them.
                #expect(kind == .nginx ? answer.status == 400 : [200, 400].contains(answer.status), "\(fields)")
            }
            // Lookalikes of the body's fields are not believed, and where a server takes them for the same, refused.
            let lookalikes = try send(["Host: a", length, type, "Content_Type: text/plain", "Content_Length: 1"])
            #expect(lookalikes.status == 200 || (kind.isLighttpd && lookalikes.status == 400), "\(lookalikes.status)")
            // A field that decides nothing may repeat.
            #expect(try send(["Host: a", length, type, "X-Other: 1", "X-Other: 2"]).status == 200)
        }
    }

    /// lighttpd gives the field `X_Forwarded_For`, with any sign in place of its hyphens, the same variable as the one that a proxy of
    /// ours has written. Go's proxies sort fields by their names, so the client's comes last.
    @Test(arguments: Kind.allCases)
    func anAddressUnderALookalikeOfTheProxysFieldIsNotBelieved(kind: Kind) throws {
        let site = try CGISite()
        site.environment["AUTH_APPLE_TRUSTED_PROXIES"] = "1"
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "sign-in=1/86400"
        try WebServer.run(kind, site) { server in
            let proxys = "X-Forwarded-For: 192.0.2.1"
            #expect(try server.signIn(headers: [proxys]).status == 201)
            #expect(try server.signIn(headers: [proxys]).status == 429)
            for (number, name) in ["X_Forwarded_For", "X-Forwarded_For", "x_forwarded-for", "X.Forwarded.For"]
                .enumerated()
            {
                let clients = "\(name): 198.51.100.\(number)"
                for headers in [[proxys, clients], [clients, proxys]] {
                    let answer = try server.signIn(headers: headers)
                    #expect(answer.status == (kind.isLighttpd ? 400 : 429), "\(headers): \(answer.text)")
                }
            }
            // A proxy may write its entry on a line of its own.
            #expect(
                try server.signIn(headers: ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2"]).status == 200)
            #expect(
                try server.signIn(headers: ["X-Forwarded-For: 192.0.2.3", "X-Forwarded-For: 192.0.2.2"]).status == 429)
        }
    }

    /// CVE-2016-5385: the field arrives as HTTP_PROXY. Here the keys are fetched, and directly.
    @Test(arguments: Kind.allCases)
    func aProxyFieldIsNoSetting(kind: Kind) throws {
        try AppleKeysServer.run { apple in
            let site = try CGISite()
            site.environment["AUTH_APPLE_KEYS_URL"] = apple.url
            try WebServer.run(kind, site) { server in
                let answer = try server.signIn(headers: ["Proxy: http://127.0.0.1:1"])
                #expect(answer.status == 201, "\(answer.text) \(server.log().suffix(500))")
                #expect(try apple.requests() == 1)
            }
        }
    }

    /// What the function would see, shown by a program in its place: the shipped files hand on what it needs.
    @Test(arguments: Kind.allCases)
    func theVariablesOfTheRequestArrive(kind: Kind) throws {
        let site = try CGISite()
        let probe = try Probe.install(in: site)
        try WebServer.run(kind, site, program: probe) { server in
            let seen = try Probe.variables(
                server.send(
                    "POST", "/auth/apple?a=b",
                    headers: [
                        "Authorization: Bearer abc", "Proxy: http://x", "Content-Type: application/json",
                        "User-Agent: me",
                    ],
                    body: Data("{}".utf8)))
            #expect(seen["HTTP_AUTHORIZATION"] == "Bearer abc")
            #expect((seen["SCRIPT_NAME"] ?? "") + (seen["PATH_INFO"] ?? "") == "/auth/apple")
            #expect(seen["REQUEST_URI"] == "/auth/apple?a=b")
            #expect(seen["QUERY_STRING"] == "a=b")
            #expect(seen["REMOTE_ADDR"] == "127.0.0.1")
            #expect(seen["HTTP_USER_AGENT"] == "me")
            #expect(seen["CONTENT_LENGTH"] == "2" && seen["CONTENT_TYPE"] == "application/json")
            #expect((seen["HTTP_PROXY"] ?? "").isEmpty)
            #expect(seen["GATEWAY_INTERFACE"] == "CGI/1.1")
            for (name, value) in site.environment { #expect(seen[name] == value, "\(name)") }
            // That the arguments are a danger at all.
            let arguments = try Probe.variables(server.signIn("/x?--help"))["ARGUMENTS"]
            #expect(arguments == (kind.isApache ? "--help" : ""))
        }
    }

    /// Mounted below a prefix, as the READMEs say.
    @Test(arguments: Kind.shipped)
    func aMountPointIsStripped(kind: Kind) throws {
        let site = try CGISite()
        site.environment["AUTH_APPLE_BASE_PATH"] = "/api/v1"
        try WebServer.run(kind, site, mountPoint: "/api/v1") { server in
            #expect(try server.signIn("/api/v1/auth/apple").status == 201)
            #expect(try server.send("GET", "/api/v1/health").status == 200)
            let nothing = try server.send("GET", "/api/v1/auth/nothing")
            #expect(nothing.status == 404 && nothing.code == "not_found")
            // Outside of it the function is not asked.
            let outside = try server.signIn()
            #expect(outside.code == nil && ![200, 201].contains(outside.status))
        }
    }

    @Test(arguments: Kind.allCases)
    func aSlowClientIsServed(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let body = try Installed.shared.signInBody()
            let head =
                "POST /auth/apple HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.count)\r\n\r\n"
            let size = body.count / 8 + 1
            let pieces = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
            let answer = try Loopback.exchange(server.port, [Data(head.utf8)] + pieces.map { Data($0) }, pause: 60_000)
            #expect(answer.status == 201)
        }
    }

    @Test(arguments: Kind.allCases)
    func aClientThatGoesAwayLeavesNothingBehind(kind: Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let head =
                "POST /auth/apple HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            for _ in 1...5 {
                let connection = try #require(Loopback.connection(to: server.port))
                connection.send(Data((head + "Content-Length: 5000\r\n\r\n{\"a\":").utf8))
                usleep(20_000)
                connection.close()
                let chunked = try #require(Loopback.connection(to: server.port))
                chunked.send(Data((head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n").utf8))
                usleep(20_000)
                chunked.close()
            }
            #expect(try server.signIn().status == 201)
            #expect(Running.vanish(Installed.shared.program, within: 30), "processes of the function stay")
        }
    }

    /// The answer of a function that is not configured goes through as well, and the log says what is missing.
    @Test(arguments: Kind.allCases)
    func aFunctionThatIsNotConfiguredAnswers500(kind: Kind) throws {
        let site = try CGISite()
        site.environment["AUTH_APPLE_AUDIENCES"] = nil
        try WebServer.run(kind, site) { server in
            let answer = try server.signIn()
            #expect(answer.status == 500 && answer.code == "internal")
            #expect(server.log().contains("AUTH_APPLE_AUDIENCES is not set"))
        }
    }
}

/// A program that stands in the function's place and tells what it was given.
enum Probe {
    static func install(in site: CGISite) throws -> URL {
        let folder = site.folder.appending(path: "probe")
        try CGISite.makeFolder(folder, 0o755)
        let probe = folder.appending(path: "probe")
        try """
        #!/bin/sh
        printf 'Status: 200 OK\\r\\nContent-Type: text/plain\\r\\n\\r\\n'
        env
        printf 'ARGUMENTS=%s\\n' "$*"
        cat >/dev/null
        """.write(to: probe, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: probe.path())
        return probe
    }

    static func variables(_ answer: HTTPAnswer) -> [String: String] {
        var variables: [String: String] = [:]
        for line in answer.text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }
}

/// Processes by their program.
enum Running {
    static func count(_ program: URL) -> Int {
        let path = program.resolvingSymlinksInPath().path()
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.filter { Int($0) != nil }.filter { id in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")) == path
        }.count
    }

    static func vanish(_ program: URL, within seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while count(program) > 0 {
            if Date() > end { return false }
            usleep(20_000)
        }
        return true
    }
}
#endif
