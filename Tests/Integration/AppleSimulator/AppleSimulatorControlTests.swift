import Foundation
import JOSE
import TestSupport
import Testing

/// What tests and developers order by `/simulator/…`, and what is kept.
@Suite struct AppleSimulatorControlTests {
    let simulator: AppleSimulator
    let server: AppsServer

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
        server = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
    }

    private func event(_ posted: LoopbackServer.Request) throws -> (claims: JSON, event: JSON) {
        let body = try JSON(parsing: Array(posted.body), limits: JSON.Limits(bytes: 16_384))
        let claims = try SimulatorAnswer.claims(of: body["payload"]?.string ?? "")
        let text = try #require(claims["events"]?.string)
        return (claims, try JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 4096)))
    }

    @Test(arguments: [
        "consent-revoked", "account-delete", "account-deleted", "email-disabled", "email-enabled",
    ])
    func aNotificationIsSentAndWhatItSaysIsSo(type: String) throws {
        _ = try LoopbackServer.run { receiver in
            try simulator.serving([server]) { address in
                let signIn = try address.code()
                let code = try #require(signIn.json["code"]?.string)
                let refresh = try #require(try address.exchange(code, by: server).json["refresh_token"]?.string)
                let sent = try address.control(
                    "/simulator/notify",
                    ["type": .string(type), "person": "ana", "url": .string(receiver.plainURL("/notices"))])
                #expect(sent.status == 200 && sent.json["status"] == .integer(200), "\(sent.text)")

                let posted = try #require(try receiver.requests().last)
                #expect(posted.method == "POST" && posted.path == "/notices")
                #expect(posted.headers["content-type"] == "application/json")
                let (claims, event) = try event(posted)
                #expect(claims["aud"]?.string == AppsServer.clientID && claims["sub"] == nil)
                #expect(event["type"]?.string == type && event["sub"] == signIn.json["sub"])
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                #expect(abs((event["event_time"]?.integer ?? 0) - now) < 60_000)
                #expect(
                    event["email"]?.string?.hasSuffix("@privaterelay.appleid.com")
                        == (type.hasPrefix("email") ? true : nil))

                let lives = try address.form(
                    "/auth/token", server.credentials(["grant_type": "refresh_token", "refresh_token": refresh]))
                let people = try #require(try address.read("/simulator/people").json["people"]?.array)
                let ana = people.first { $0["id"] == "ana" }
                switch type {
                case "consent-revoked":
                    #expect(lives.error == "invalid_grant" && ana?["apps"] == .array([]))
                    // The same person comes back as the same, and says the name again.
                    let back = try address.code()
                    #expect(back.json["sub"] == signIn.json["sub"] && back.json["user"] != .null)
                case "account-delete", "account-deleted":
                    #expect(lives.error == "invalid_grant" && ana == nil)
                    #expect(try address.code(["person": "ana"]).status == 404)
                default:
                    #expect(lives.status == 200)
                    let forwarding = ana?["apps"]?.array?.first?["forwarding"]
                    #expect(forwarding == .bool(type == "email-enabled"))
                }
            }
        }
    }

    /// A server that gets a notification asks for the keys before it answers.
    @Test func theSimulatorAnswersWhileANotificationIsUnderWay() throws {
        _ = try LoopbackServer.run(LoopbackServer.Answer(503).with { $0.delay = 3 }) { receiver in
            try simulator.serving([server]) { address in
                let connection = try #require(address.connect())
                let body = #"{"type":"consent-revoked","sub":"001.x.1","url":"\#(receiver.plainURL("/n"))"}"#
                try connection.write(
                    contentsOf: Data(
                        "POST /simulator/notify HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                            .utf8))
                while try receiver.requests().isEmpty { usleep(20_000) }
                let began = ContinuousClock.now
                #expect(try address.read("/auth/keys").status == 200)
                #expect(ContinuousClock.now - began < .seconds(2.5))
                let answer = String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
                #expect(answer.hasSuffix(#"{"status":503,"error":null}"#))
            }
        }
    }

    @Test func aNotificationThatCannotBeSentIsSaidSo() throws {
        try simulator.serving([server]) { address in
            let notify = { (change: JSON.Object) in
                var body: JSON.Object = ["type": "consent-revoked", "sub": "001.x.1", "url": "http://127.0.0.1:9/"]
                for member in change.members { body[member.name] = member.value }
                return try address.control("/simulator/notify", .object(body))
            }
            let gone = try notify([:])
            #expect(gone.status == 200 && gone.json["status"] == .null && gone.json["error"]?.string != nil)
            for change: JSON.Object in [
                ["type": "odd"], ["url": "http://example.com/"], ["url": "file:///etc/passwd"], ["url": .null],
                ["person": "ana"], ["sub": .null], ["client_id": "com.example.another"], ["more": .bool(true)],
            ] { #expect(try notify(change).status == 400, "\(change)") }
        }
    }

    @Test func anOutageIsAsLongAsItWasOrdered() throws {
        try simulator.serving([server]) { address in
            let order = { (body: JSON) in try address.control("/simulator/faults", body) }
            #expect(try order(["endpoint": "/auth/keys", "status": .integer(503), "times": .integer(2)]).status == 200)
            #expect(try (0..<3).map { _ in try address.read("/auth/keys").status } == [503, 503, 200])

            // Late, and done all the same: an answer is lost, and not a request.
            let code = try #require(try address.code().json["code"]?.string)
            _ = try order(["endpoint": "/auth/token", "delay": .integer(600)])
            let began = ContinuousClock.now
            #expect(try address.exchange(code, by: server).status == 200)
            #expect(ContinuousClock.now - began >= .milliseconds(600))
            // A client that has given up gets nothing, and nobody waits for it.
            _ = try order(["endpoint": "/auth/keys", "delay": .integer(60_000)])
            let connection = try #require(address.connect())
            try connection.write(
                contentsOf: Data("GET /auth/keys HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n".utf8))
            while try address.read("/simulator/faults").json["faults"] != .array([]) { usleep(20_000) }
            try connection.close()
            #expect(try address.read("/auth/keys").status == 200)

            _ = try order(["endpoint": "/auth/revoke", "drop": .bool(true)])
            #expect(
                try address.exchange("POST /auth/revoke HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n").isEmpty)
            #expect(try address.form("/auth/revoke", [:]).status == 400)

            _ = try order(["endpoint": "/auth/keys", "status": .integer(500), "times": .integer(9)])
            #expect(try address.delete("/simulator/faults").json["faults"] == .array([]))
            #expect(try address.read("/auth/keys").status == 200)
            for body: JSON in [
                ["endpoint": "/simulator/faults", "status": .integer(500)], ["endpoint": "/auth/keys"], [:], .array([]),
                ["endpoint": "/auth/keys", "status": .integer(99)],
                ["endpoint": "/auth/keys", "delay": .integer(60_001)],
                ["endpoint": "/auth/keys", "drop": .integer(1)],
                ["endpoint": "/auth/keys", "drop": .bool(true), "x": .null],
            ] { #expect(try order(body).status == 400, "\(body)") }
        }
    }

    @Test func theLogSaysWhatCameAndNeverASecret() throws {
        let served = try simulator.serving([server]) { address in
            let signIn = try address.code(["nonce": "canary-nonce"])
            let code = try #require(signIn.json["code"]?.string)
            let token = try address.exchange(code, by: server)
            _ = try address.exchange(code, by: server)
            _ = try address.form("/auth/revoke", server.credentials(["token": "canary-token"]))
            _ = try address.read("/auth/authorize", ["state": "canary-state", "client_id": "canary-client"])
            let log = try address.read("/simulator/requests")
            let entries = try #require(log.json["requests"]?.array)
            #expect(
                entries.map { $0["endpoint"]?.string } == [
                    "/auth/token", "/auth/token", "/auth/revoke", "/auth/authorize",
                ])
            #expect(entries.map { $0["status"]?.integer } == [200, 400, 200, 400])
            #expect(
                entries.map { $0["outcome"]?.string } == [
                    "authorization_code", "invalid_grant: code has been used before", "nothing to revoke",
                    "refused: client_id, redirect_uri, response_type",
                ])
            let tokens = ["access_token", "refresh_token", "id_token"].map { token.json[$0]?.string ?? "" }
            let secrets = tokens + [code, signIn.json["identity_token"]?.string ?? ""]
            #expect(secrets.allSatisfy { $0.utf8.count > 40 })
            for secret in secrets + ["canary"] { #expect(!log.text.contains(secret)) }
            #expect(try address.delete("/simulator/requests").json["requests"] == .array([]))
        }
        #expect(!served.errors.contains("canary") && !served.errors.contains("eyJ"))
    }

    @Test func theStateIsSharedByRunsAndSurvivesThem() throws {
        let file = simulator.folder.appending(path: "\(UUID().uuidString).json")
        let options = ["--state", file.path()]
        var (code, refresh, invented) = ("", "", "")
        try simulator.serving([server], options: options) { one in
            try simulator.serving([server], options: options) { two in
                invented = try #require(
                    try one.control("/simulator/people", ["first_name": "Eva", "email": "eva@example.com"])
                        .json["id"]?.string)
                code = try #require(try two.code(["person": "eva@example.com"]).json["code"]?.string)
                let tokens = try one.exchange(code, by: server)
                refresh = try #require(tokens.json["refresh_token"]?.string)
                #expect(try two.exchange(code, by: server).error == "invalid_grant")
            }
        }
        try simulator.serving([server], options: options) { address in
            #expect(try address.code(["person": .string(invented)]).json["user"] == .null)
            let fields = try server.credentials(["grant_type": "refresh_token", "refresh_token": refresh])
            #expect(try address.form("/auth/token", fields).status == 200)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path())
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // What was issued is kept by its digest.
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains(code) && !text.contains(refresh))

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path())
        let open = try simulator.failingToServe(options)
        #expect(open.exitStatus == 73 && open.errors.contains("open to others"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path())
        try Data("{}".utf8).write(to: file)
        #expect(try simulator.failingToServe(options).exitStatus == 73)
    }

    /// Many at once, over two processes: each code is taken once.
    @Test func aCodeIsTakenOnceHoweverManyAsk() throws {
        let file = simulator.folder.appending(path: "\(UUID().uuidString).json")
        let options = ["--state", file.path()]
        try simulator.serving([server], options: options) { one in
            try simulator.serving([server], options: options) { two in
                for _ in 0..<4 {
                    let code = try #require(try one.code().json["code"]?.string)
                    let (server, results) = (server, Statuses())
                    DispatchQueue.concurrentPerform(iterations: 4) { index in
                        let answer = try? (index % 2 == 0 ? one : two).exchange(code, by: server)
                        results.add(answer?.status ?? 0)
                    }
                    #expect(results.sorted == [200, 400, 400, 400])
                }
            }
        }
    }

    /// Even to one that only reads: what it reads must still be so when it writes.
    @Test func aRunWaitsWhileAnotherUsesTheState() throws {
        let file = simulator.folder.appending(path: "\(UUID().uuidString).json")
        try simulator.serving([server], options: ["--state", file.path()]) { address in
            let lock = open("\(file.path()).lock", O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            #expect(flock(lock, LOCK_SH) == 0)
            let connection = try #require(address.connect())
            try connection.write(
                contentsOf: Data("GET /simulator/people HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n".utf8))
            var waiting = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
            #expect(poll(&waiting, 1, 500) == 0)
            #expect(flock(lock, LOCK_UN) == 0)
            let answer = String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
    }

    private final class Statuses: @unchecked Sendable {
        private let lock = NSLock()
        private var all: [Int] = []
        func add(_ status: Int) { lock.withLock { all.append(status) } }
        var sorted: [Int] { lock.withLock { all.sorted() } }
    }

    @Test func thePageListsWhoThereIsAndSendsNotifications() throws {
        _ = try LoopbackServer.run { receiver in
            try simulator.serving([server], redirectURIs: ",https://app.example/cb") { address in
                _ = try address.code()
                let page = try address.read("/")
                for text in ["Ana Ruiz", AppsServer.clientID, "TEAM000001", "KEY0000001", "https://app.example/cb"] {
                    #expect(page.text.contains(text), "\(text)")
                }
                #expect(try address.form("/", ["action": "invent", "first_name": "Eva"]).status == 303)
                #expect(try address.read("/").text.contains("Eva"))
                let sent = try address.form(
                    "/",
                    ["action": "notify", "person": "ana", "type": "email-disabled", "url": receiver.plainURL("/n")])
                #expect(sent.status == 200 && sent.text.contains("El servidor la recibió: 200."))
                #expect(try receiver.requests().count == 1)
                #expect(try address.form("/", ["action": "notify", "person": "ana"]).status == 400)
            }
        }
    }

    @Test func optionsThatAreWrongAreRefused() throws {
        for options in [
            ["--client", "a"], ["--client", "a="], ["--client", "a=T,http://example.com/"], ["--client", "a=T,x"],
            ["--code-seconds", "0"],
        ] { #expect(try simulator.failingToServe(options).exitStatus == 64, "\(options)") }
        let file = simulator.folder.appending(path: "\(UUID().uuidString).pem")
        try Data(server.publicPEM.utf8).write(to: file)
        let mixed = ["--team", "T:K=\(file.path())", "--client", "a=U"]
        #expect(try simulator.failingToServe(mixed).exitStatus == 64)
    }
}
