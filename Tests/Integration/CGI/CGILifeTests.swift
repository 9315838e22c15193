#if SQLite
import Foundation
import TestSupport
import Testing

/// What is done at Apple after an answer, where the program that answered must be gone by then.
@Suite struct CGILifeTests {
    @Test(arguments: [WebServer.Kind.apacheCGI, .nginx, .lighttpd])
    func codesAreExchangedWhileNobodyWaits(kind: WebServer.Kind) throws {
        let keys = Installed.shared.folder.appending(path: "simulator/keys.json").path()
        try AppleSimulator().serving(arguments: ["--key-file", keys]) { apple in
            let site = try CGISite()
            try site.knowApple(at: apple)
            try WebServer.run(kind, site) { server in
                func signIn() throws -> HTTPAnswer {
                    let person = try apple.order("/simulator/code", ["client_id": "com.example.app", "person": "ana"])
                    let body: [String: Any] = [
                        "identity_token": person["identity_token"] ?? "", "authorization_code": person["code"] ?? "",
                        "deviceInfo": [String: Any](),
                    ]
                    return try server.signIn(body: JSONSerialization.data(withJSONObject: body))
                }
                let first = try signIn()
                #expect(first.status == 201, "\(first.text)")
                #expect(try site.waitForGrant() != nil, "\(server.log().suffix(800))")

                // Apple takes its time, and the client has its answer; requests go on meanwhile, in the same file.
                let before = try site.waitForGrant()
                try apple.order("/simulator/faults", ["endpoint": "/auth/token", "delay": 3000, "times": 1])
                let second = try signIn()
                #expect(second.status == 200 && second.seconds < 2.5, "the client waited for \(second.seconds) s")
                // Who waits for Apple was born by a fork, and has nothing of the store that its parent had open.
                let waiting = try site.processes()
                #expect(!waiting.isEmpty)
                for process in waiting { #expect(!process.files.contains { $0.contains("accounts.sqlite") }) }
                for _ in 0..<5 { #expect(try signIn().status == 200) }
                #expect(try site.waitForGrant(other: before) != before)
                let end = Date(timeIntervalSinceNow: 20)
                while try !site.processes().isEmpty, Date() < end { usleep(50_000) }
                #expect(try site.processes().isEmpty)
                #expect(try site.query("PRAGMA integrity_check") == "ok")

                // And Apple's own request comes in by the same way.
                let person = try apple.order("/simulator/code", ["client_id": "com.example.app", "person": "ana"])
                let heard = try apple.order(
                    "/simulator/notify",
                    [
                        "type": "consent-revoked", "sub": person["sub"] ?? "",
                        "url": "http://127.0.0.1:\(server.port)/auth/apple/notifications",
                    ])
                #expect(heard["status"] as? Int == 200, "\(heard)")
                #expect(try site.query("SELECT count(*) FROM sessions") == "0")
                #expect(try site.query("SELECT count(*) FROM apple_grants") == "0")
            }
        }
    }
}

extension CGISite {
    /// Turns the exchange of codes on, with a key that nobody has registered: without a team the simulator cannot check it.
    fileprivate func knowApple(at apple: SimulatorAddress) throws {
        let file = folder.appending(path: "private/AuthKey.p8").path()
        try LifeSite.write(OpenSSLKeys.shared["p8"], to: file)
        if let user = ServerUser.current { chown(file, user.id, user.group) }
        environment.merge([
            "AUTH_APPLE_TEAM_ID": LifeSite.team, "AUTH_APPLE_KEY_ID": LifeSite.keyID,
            "AUTH_APPLE_PRIVATE_KEY_FILE": file,
            "AUTH_APPLE_ENCRYPTION_KEYS": "k:" + String(repeating: "K", count: 42) + "A",
            "AUTH_APPLE_TOKEN_URL": "\(apple.url)/auth/token", "AUTH_APPLE_REVOKE_URL": "\(apple.url)/auth/revoke",
        ]) { $1 }
    }

    /// The function's processes of this site, and what they have open.
    fileprivate func processes() throws -> [(id: String, files: [String])] {
        let files = FileManager.default
        let program = Installed.shared.program.resolvingSymlinksInPath().path()
        return try files.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.compactMap { id in
            guard (try? files.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")) == program,
                let environment = try? Data(contentsOf: URL(filePath: "/proc/\(id)/environ")),
                environment.range(of: Data(folder.path().utf8)) != nil,
                let open = try? files.contentsOfDirectory(atPath: "/proc/\(id)/fd")
            else { return nil }
            return (id, open.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/\($0)") })
        }
    }

    /// One value of the store, seen from outside.
    fileprivate func query(_ sql: String) throws -> String? {
        let path = folder.appending(path: "private/state/accounts.sqlite").path()
        let script = """
            import sqlite3, sys
            row = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True).execute(sys.argv[2]).fetchone()
            print("" if row is None else row[0])
            """
        let ran = try Ran("/usr/bin/python3", "-c", script, path, sql)
        try #require(ran.status == 0, "\(ran.text)")
        let text = ran.text.trimmingCharacters(in: .newlines)
        return text.isEmpty ? nil : text
    }

    /// When the grant was obtained, once there is one, or another.
    fileprivate func waitForGrant(other: String? = nil) throws -> String? {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            if let time = try query("SELECT max(obtained_at) FROM apple_grants"), time != "None", time != other {
                return time
            }
            usleep(50_000)
        }
        return nil
    }
}
#endif
