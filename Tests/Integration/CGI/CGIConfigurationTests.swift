// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// The files that are shipped, by the servers' own checks, and what they promise about TLS.
@Suite struct CGIConfigurationTests {
    typealias Kind = WebServer.Kind

    @Test(arguments: Kind.shipped, WebServer.Variant.allCases)
    func theServerFindsNothingWrong(kind: Kind, variant: WebServer.Variant) throws {
        try Self.check(kind, variant)
    }

    @Test func lighttpdFindsNothingWrongWithTheContainersFile() throws {
        try Self.check(.container, .plain)
    }

    private static func check(_ kind: Kind, _ variant: WebServer.Variant) throws {
        let server = try WebServer(kind, variant, try CGISite())
        let folder = server.configuration.folder.path()
        let environment = ["APACHE_LOG_DIR": folder, "PATH": "/usr/sbin:/usr/bin:/bin", "PORT": "8080"]
        let ran = try Ran(server.configuration.check, environment: environment)
        #expect(ran.status == 0, "\(ran.text)")
        for word in ["[warn", "WARNING", "AH00558", "deprecated", "unknown"] {
            #expect(!ran.text.contains(word), "\(ran.text)")
        }
    }

    /// Debian's unit makes one argument of all the options in `/etc/default/fcgiwrap`.
    @Test func theGuidesOptionsOfFcgiwrapAreTakenAsOneWord() throws {
        let guide = Installed.package.appending(path: "deploy/cgi/nginx/README.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        let options = try #require(text.firstMatch(of: /DAEMON_OPTS="?([^"\n]+)/)?.1)
        let ran = try Ran("/usr/sbin/fcgiwrap", String(options), "-h", environment: [:])
        #expect(ran.status == 0 && ran.text.contains("Usage: "), "\(ran.text)")
    }

    /// A role's credentials come in variables of AWS's.
    @Test func theContainersEnvironmentIsHandedOnAsFarAsTheProgramReadsIt() throws {
        let script = Installed.package.appending(path: "deploy/container/environment.sh").path()
        let ran = try Ran(
            "/bin/sh", script,
            environment: [
                "PATH": "/usr/bin:/bin", "AUTH_APPLE_STORE": "dynamodb:t", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "u",
                "PGPASSFILE": "/p", "AUTH_APPLE_MODE": "", "OTHER_SECRET": "s",
            ])
        let names = ran.text.matches(of: /"(\w+)" => env\.(\w+),\n/).map { $0.1 == $0.2 ? String($0.1) : "" }
        #expect(names.sorted() == ["AUTH_APPLE_STORE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "PGPASSFILE"])
    }

    /// The variables that the shipped `environment.conf` sets are enough, and none is misspelt: `auth-apple check` has nothing
    /// to say of the configuration but that this machine has no such key file.
    @Test(arguments: ["apache", "nginx", "lighttpd"])
    func theShippedEnvironmentIsWhole(server: String) throws {
        let file = Installed.package.appending(path: "deploy/cgi/\(server)/environment.conf")
        let text = try String(contentsOf: file, encoding: .utf8)
        let pairs = text.matches(of: /(AUTH_APPLE_[A-Z_]+)"?[ =>]+"([^"]*)"/).map { (String($0.1), String($0.2)) }
        #expect(pairs.count == 6)
        let site = try CGISite()
        var environment = Dictionary(uniqueKeysWithValues: pairs)
        environment["AUTH_APPLE_SIGNING_KEYS_FILE"] = site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"]
        environment["AUTH_APPLE_STORE"] = site.environment["AUTH_APPLE_STORE"]
        let event = Data(#"{"method":"GET","path":"/health"}"#.utf8)
        let ran = try Ran(Installed.shared.program.path(), environment: environment, input: event)
        #expect(ran.status == 0 && ran.text.contains(#""statusCode":200"#), "\(ran.text)")
    }

    @Test(arguments: Kind.shipped)
    func tls12And13AreServedAndNothingOlder(kind: Kind) throws {
        let site = try CGISite()
        try WebServer.run(kind, site, variant: .tls) { server in
            // The client is willing, so a refusal is the server's.
            let hello = { (version: String) in
                try Ran(
                    "/usr/bin/openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-servername", "localhost",
                    version, "-cipher", "ALL:@SECLEVEL=0", environment: ["PATH": "/usr/bin"]
                ).text
            }
            #expect(try hello("-tls1_3").contains("New, TLSv1.3"))
            #expect(try hello("-tls1_2").contains("New, TLSv1.2"))
            for old in ["-tls1_1", "-tls1"] {
                let text = try hello(old)
                #expect(text.contains("alert protocol version") && text.contains("(NONE)"), "\(old): \(text)")
            }
            let certificate = server.configuration.folder.appending(path: "certificate.pem").path()
            let answer = try HTTPAnswer.byCurl(
                "POST", "https://localhost:\(server.port)/auth/apple", headers: ["Content-Type: application/json"],
                body: Installed.shared.signInBody(),
                options: ["--cacert", certificate, "--connect-to", "localhost:\(server.port):127.0.0.1:\(server.port)"])
            #expect(answer.status == 201 && answer.exitStatus == 0, "\(answer.text) \(server.log().suffix(500))")
        }
    }

    /// Platforms end a container by SIGTERM to its first process.
    @Test func theContainerEndsAtSIGTERMWhenItsRequestsAreAnswered() throws {
        try AppleKeysServer.run { apple in
            let site = try CGISite()
            site.environment["AUTH_APPLE_KEYS_URL"] = apple.url
            try apple.delay(1)
            try WebServer.run(.container, site) { server in
                let body = try Installed.shared.signInBody()
                let head =
                    "POST /auth/apple HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
                let connection = try #require(Loopback.connection(to: server.port))
                connection.send(Data(head.utf8) + body)
                let end = Date() + 20
                while try apple.requests() == 0, Date() < end { usleep(20_000) }
                // The request waits for Apple's keys now.
                #expect(server.terminate(within: 30))
                let answer = HTTPAnswer(raw: connection.readToEnd())
                #expect(answer.status == 201)
            }
        }
    }
}
#endif
