#if PostgreSQL
import Accounts
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// Servers that die, hold back, refuse and are full: unavailable, nothing lost, nothing half done.
@Suite(.serialized) struct PostgreSQLFaultTests {
    /// SIGKILL to one server process makes PostgreSQL end all of them and recover from its log.
    @Test func aServerKilledInTheMiddleOfATransactionLeavesNothingHalfDone() throws {
        let server = try PostgreSQLServer()
        let url = server.url()
        let store = try UserStores.open(url, patience: .seconds(10))
        _ = try store.signIn(person("1")) { login(of: $0) }
        for victim in ["1", "canary-subject"] {
            let probe = try StoreProbe(url, victim, ["--hold"])
            try probe.wait(for: "inside")
            try server.killBackend(where: "state = 'idle in transaction'")
            let refusal = try probe.refusal()
            #expect(refusal.contains("unavailable"), "\(refusal)")
            try waitUntilUp(server)
            #expect(try UserStores.open(url).check().contains("1 accounts, 1 sessions"))
        }
        // The store's own connection broke as well, while nobody looked at it.
        #expect(try !store.signIn(person("1")) { login(of: $0) }.isNew)
    }

    /// A statement a session, and one an entry of the audit: some twenty thousand were more than a request's patience, so that nobody
    /// could end them, delete or move the account.
    @Test func manySessionsAreFewStatements() throws {
        let server = PostgreSQLServer.shared
        let schema = PostgreSQLServer.newSchema()
        let store = try UserStores.open(server.url(schema: schema))
        let account = person("1")
        let sessions = (0..<2500).map { _ in login(of: account) }
        let signIns = sessions.map { entry(.signedIn, account.id, session: $0.id) }
        #expect(SQLStatement.insert(sessions).count == 3 && SQLStatement.append(signIns).count == 3)
        #expect(SQLStatement.remove(sessions).count == 3 && SQLStatement.append([]).isEmpty)
        #expect(try store.restore(.account(account, sessions: sessions, grants: [], audit: signIns)))
        #expect(try Set(store.sessions(of: account.id, at: noon)) == Set(sessions))
        let end = { (session: Session) in entry(.sessionEnded, account.id, session: session.id) }
        #expect(try store.endSessions(of: account.id, except: sessions[7].id, audit: end) == 2499)
        #expect(try store.sessions(of: account.id, at: noon) == [sessions[7]])
        let audit = try store.audit(of: account.id)
        #expect(audit.prefix(2500) == signIns[...] && Set(audit.suffix(2499).compactMap(\.sessionID)).count == 2499)
        #expect(try server.psql("SELECT max(number) FROM \(schema).audit") == "4999")
    }

    /// Whoever adds to an audit without holding its account may come between. Then nothing is added, and not all but the first.
    @Test func entriesAreAddedAllOrNone() throws {
        let server = PostgreSQLServer.shared
        let schema = PostgreSQLServer.newSchema()
        let store = try UserStores.open(server.url(schema: schema))
        let made = try store.signIn(person("1")) { login(of: $0) }
        let more = try (0..<3).map { _ in try store.signIn(person("1")) { login(of: $0) }.session.id }
        let before = try store.audit(of: made.account.id).count
        // Somebody is about to take the next number.
        let other = try ChildProcess(
            URL(filePath: "/usr/bin/psql"),
            [
                "-X", "-q", "-h", server.folder, "-p", "\(server.port)", "-U", "postgres", "postgres", "-c",
                """
                BEGIN; INSERT INTO \(schema).audit (account_id, number, time, event, request_id)
                VALUES ('\(made.account.id)', \(before + 1), now(), 'logged_out', 'other'); SELECT pg_sleep(1); COMMIT
                """,
            ], environment: ["PATH": "/usr/bin:/bin"])
        while try server.psql(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%\(made.account.id)%pg_sleep%' AND pid <> pg_backend_pid()"
        ) == "0" { usleep(10_000) }
        let end = { (session: Session) in entry(.sessionEnded, made.account.id, session: session.id) }
        #expect(try store.endSessions(of: made.account.id, except: nil, audit: end) == 4)
        other.wait()
        let audit = try store.audit(of: made.account.id)
        #expect(audit.count == before + 5 && audit[before].event == .loggedOut)
        #expect(Set(audit.suffix(4).compactMap(\.sessionID)) == Set(more + [made.session.id]))
    }

    /// The server falls as with the power, again and again, while two processes work.
    @Test func nothingThatWasAcknowledgedIsUndoneByTheServersFall() throws {
        let server = try PostgreSQLServer()
        let url = server.url()
        _ = try UserStores.open(url).migrate()
        var tokens: [UUIDv7: (last: RefreshToken, hasEnded: Bool)] = [:]
        var operations = 0
        for _ in 0..<5 {
            let probes = try ["1", "2"].map { try StoreProbe(url, command: ["lives", $0, "--patience", "200"]) }
            usleep(UInt32.random(in: 300_000...900_000))
            server.kill()
            for probe in probes {
                let lines = probe.end().output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                for words in lines where words.count > 1 {
                    guard let id = UUIDv7(words[1]) else {
                        #expect(words[0].hasPrefix("unavailable") || words[0].hasPrefix("store("), "\(words)")
                        continue
                    }
                    operations += 1
                    if words[0] == "ended" {
                        tokens[id]?.hasEnded = true
                    } else if let token = RefreshToken(words[2]) {
                        tokens[id] = (token, false)
                    }
                }
            }
            try server.start()
        }
        #expect(operations > 20, "they were stopped before they did anything")
        let store = try UserStores.open(url)
        let rotation = TestService(users: store).rotation
        var gone = 0
        for (id, token) in tokens {
            guard let session = try store.session(id)?.0 else {
                // Of each process the last step may have been done without an answer.
                if !token.hasEnded { gone += 1 }
                continue
            }
            #expect(!token.hasEnded, "a logout that was acknowledged is undone")
            switch rotation.verdict(on: token.last, for: session, at: realNow()) {
            case .rotated, .repeated: break
            case .reused, .expired, .unknown: Issue.record("a rotation that was acknowledged is undone")
            }
        }
        #expect(gone <= 10)
    }

    @Test func whoRefusesConnectionsIsUnavailableAtOnceAndNothingSecretIsSaid() throws {
        let port = try PostgreSQLServer.freePort()
        let url = "postgres://canary-user:canary-password@127.0.0.1:\(port)/accounts"
        let began = ContinuousClock.now
        let text = try refusal(of: url)
        #expect(text.contains("unavailable") && text.contains("127.0.0.1"), "\(text)")
        #expect(!text.contains("canary-password"))
        #expect(began.duration(to: .now) < .seconds(20))
    }

    /// The kernel takes the connection, and then nobody says anything.
    @Test func whoSaysNothingIsGivenUpWithThePatience() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(descriptor, address, length)
                _ = listen(descriptor, 5)
                _ = getsockname(descriptor, address, &length)
            }
        }
        let began = ContinuousClock.now
        let text = try refusal(of: "postgres://u@127.0.0.1:\(UInt16(bigEndian: address.sin_port))/db", patience: 300)
        let waited = began.duration(to: .now)
        #expect(text.contains("unavailable") && text.contains("no answer in time"), "\(text)")
        #expect(waited >= .milliseconds(290) && waited < .seconds(20), "\(waited)")
    }

    /// A proxy holds the packets of a connection that is open already: its server process is stopped, which is the same to us.
    @Test func whoFallsSilentInTheMiddleIsGivenUpWithThePatience() throws {
        let server = PostgreSQLServer.shared
        let url = server.url("&application_name=silent")
        let store = try UserStores.open(url, patience: .milliseconds(400))
        _ = try UserStores.open(url).signIn(person("1")) { login(of: $0) }
        _ = try store.check()
        let pid = try #require(
            pid_t(try server.psql("SELECT max(pid) FROM pg_stat_activity WHERE application_name = 'silent'")))
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        let began = ContinuousClock.now
        let error = #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
        #expect(began.duration(to: .now) < .seconds(20))
        guard case .unavailable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The next request has a new connection.
        #expect(try !store.signIn(person("1")) { login(of: $0) }.isNew)
    }

    @Test func aReadOnlyServerIsUnavailableAndTheCheckSaysSo() throws {
        let server = PostgreSQLServer.shared
        let schema = PostgreSQLServer.newSchema()
        _ = try UserStores.open(server.url(schema: schema)).signIn(person("1")) { login(of: $0) }
        let url = server.url("&options=-c%20default_transaction_read_only%3Don", schema: schema)
        let text = try refusal(of: url)
        #expect(text.contains("unavailable") && text.contains("25006"), "\(text)")
        let error = #expect(throws: StoreError.self) { try UserStores.open(url).check() }
        #expect("\(String(describing: error))".contains("read-only"))
        #expect(try UserStores.open(server.url(schema: schema)).check().contains("1 accounts, 1 sessions"))
    }

    /// The tables are on a small disk; the log is not, as a server without room for its log stops altogether.
    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func aFullDiskIsUnavailableUntilThereIsSpaceAgain() throws {
        let server = try PostgreSQLServer()
        try withFolder { folder in
            let disk = "\(folder)/disk"
            chmod(folder, 0o711)
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            guard mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=700") == 0 else {
                withKnownIssue("this machine does not let root mount") { Issue.record("mount: \(errno)") }
                return
            }
            defer {
                server.kill()
                umount2(disk, Int32(MNT_DETACH))
            }
            if let user = PostgreSQLServer.user { chown(disk, user.uid, user.gid) }
            try server.psql("CREATE TABLESPACE small LOCATION '\(disk)'")
            let store = try UserStores.open(server.url("&options=-c%20default_tablespace%3Dsmall"))
            let letters = Array("abcdefghijklmnop")
            let signIn = {
                let device = JSON.object(["x": .string(String((0..<4000).map { _ in letters.randomElement() ?? "a" }))])
                return try store.signIn(person("canary-subject")) { login(of: $0, on: device) }
            }
            let account = try signIn().account.id
            var sessions = 1
            var failure: (any Error)?
            while failure == nil, sessions < 2000 {
                do {
                    _ = try signIn()
                    sessions += 1
                } catch { failure = error }
            }
            for _ in 0..<2 {
                let error = #expect(throws: StoreError.self) { try signIn() }
                let text = "\(String(describing: error)) \(String(describing: failure))"
                #expect(text.contains("unavailable") && text.contains("53100") && !text.contains("canary"), "\(text)")
            }
            try expect(sessions, of: account, in: store)
            #expect(mount("tmpfs", disk, "tmpfs", UInt(MS_REMOUNT), "size=8m,mode=700") == 0)
            _ = try signIn()
            try expect(sessions + 1, of: account, in: store)
        }
    }

    /// As many sessions as were acknowledged, and the audit says the same.
    private func expect(_ sessions: Int, of account: UUIDv7, in store: any UserStore) throws {
        #expect(try store.sessions(of: account, at: noon).count == sessions)
        #expect(try store.audit(of: account).count { $0.event == .signedIn } == sessions)
    }

    /// A server that refuses the first commits of everybody, as one that serializes does under load, and then none or all.
    @Test(arguments: ["40001", "40P01"], [2, 1_000_000])
    func whatTheServerTakesBackIsDoneAgainUntilPatienceEnds(_ state: String, refusals: Int) throws {
        let server = PostgreSQLServer.shared
        let schema = PostgreSQLServer.newSchema()
        let store = try UserStores.open(server.url(schema: schema), patience: .milliseconds(1500))
        _ = try store.migrate()
        try server.psql(
            """
            SET search_path = \(schema);
            CREATE SEQUENCE refusals;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('\(schema).refusals') <= \(refusals) THEN RAISE EXCEPTION USING ERRCODE = '\(state)'; END IF;
                RETURN new;
            END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION refuse();
            """)
        let began = ContinuousClock.now
        var decisions = 0
        let signIn = {
            try store.signIn(person("1")) { account in
                decisions += 1
                return login(of: account)
            }
        }
        if refusals == 2 {
            #expect(try signIn().isNew)
            #expect(decisions == 3)
            #expect(try store.check().contains("1 accounts, 1 sessions"))
        } else {
            let error = #expect(throws: StoreError.self) { _ = try signIn() }
            #expect("\(String(describing: error))".contains("unavailable"))
            #expect(decisions > 3 && began.duration(to: .now) < .seconds(20))
            #expect(try store.check().contains("0 accounts, 0 sessions"))
        }
    }

    @Test func aForkedProcessHasAConnectionOfItsOwn() throws {
        let url = PostgreSQLServer.shared.url()
        let words = try StoreProbe(url, command: ["fork", "1"]).result()
        #expect(words.count == 2 && words[1] == "0", "\(words)")
        #expect(try UserStores.open(url).check().contains("1 accounts, 4 sessions"))
    }

    private func refusal(
        of url: String, patience: Int = 5000, command: [String] = ["sign-in", "canary-subject"]
    ) throws -> String {
        try StoreProbe(url, command: command + ["--patience", "\(patience)"]).refusal()
    }

    private func waitUntilUp(_ server: PostgreSQLServer) throws {
        for _ in 0..<500 {
            if (try? server.psql("SELECT 1")) != nil { return }
            usleep(20_000)
        }
        Issue.record("the server did not come back")
    }
}
#endif
