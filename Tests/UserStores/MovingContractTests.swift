import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep when the entries of another come into it.
@Suite struct MovingContractTests {
    @Test(arguments: StoreUnderTest.all)
    func whatWasInOneStoreIsTheSameInAnother(_ subject: StoreUnderTest) throws {
        let old = try UserStores.open("memory:")
        let ana = try old.signIn(
            full("1"), once: [Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))]
        ) {
            account, _ in Opening(account: account, session: login(of: account), audit: [entry(.signedIn, account.id)])
        }
        let id = try #require(ana.account?.id)
        for client in ["com.example.web", "com.example.app", "com.example.\u{E9}"] {
            try old.keep(grant(of: id, client))
        }
        let bob = try old.signIn(person("2")) { login(of: $0, on: .object(["os": .decimal("1.50"), "a": .null])) }
        try old.change(account: bob.account.id) { _ in
            .delete(revoking: true, remembering: nil, entry(.accountDeleted, bob.account.id))
        }
        try old.keep(grant(of: bob.account.id, "com.example.app"))
        let lines = try all(of: old)
        #expect(lines.count == 4)
        try subject.withStore { store in
            for entry in try entries(of: old) { #expect(try store.restore(entry)) }
            #expect(try all(of: store) == lines)
            // Once more, it is there.
            for entry in try entries(of: old) {
                #expect(try !store.restore(entry))
                let counterpart = try store.counterpart(of: entry, at: noon)
                #expect(counterpart.map { StoreFile.line($0) } == StoreFile.line(entry))
            }
            #expect(try all(of: store) == lines)
            guard case .spent = try store.signIn(person("1"), once: marks(of: old), { _, _ in nil }).outcome else {
                Issue.record("a mark did not move")
                return
            }
            // It is an account like any other.
            try store.change(account: id) { _ in .delete(revoking: true, remembering: nil, entry(.accountDeleted, id)) }
            #expect(try store.account(id) == nil && store.revocations(limit: 10).count == 4)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsThereStaysAsItIs(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let known = try store.signIn(full("1")) { login(of: $0) }.account
            let moving = try #require(known.transferSubject)
            let before = try all(of: store)
            var sameTransfer = person("3")
            sameTransfer.transferSubject = moving
            var sameID = known.learning(Profile(fullName: "Another"), at: noon)
            sameID.disabledAt = noon
            for account in [person("1"), sameTransfer, sameID] {
                let session = login(of: account)
                #expect(try !store.restore(moved(account, [session])))
                #expect(try store.session(session.id) == nil)
            }
            #expect(try !store.restore(.formerAudit(of: known.id, [entry(.signedIn, known.id)])))
            #expect(try all(of: store) == before)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whoWasDeletedDoesNotComeBack(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let account = person("1")
            #expect(try store.restore(moved(account, [login(of: account)])))
            try store.change(account: account.id) { _ in
                .delete(revoking: true, remembering: nil, entry(.accountDeleted, account.id))
            }
            #expect(try !store.restore(moved(account, [login(of: account)])))
            #expect(try store.account(account.id) == nil)
            #expect(try store.counterpart(of: moved(account, []), at: noon) == nil)
        }
    }

    /// More than a transaction of DynamoDB's can write.
    @Test(arguments: StoreUnderTest.all)
    func anAccountWithManySessionsMovesWhole(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let account = person("1")
            let sessions = (0..<130).map { _ in login(of: account) }
            let audit = sessions.flatMap {
                [entry(.signedIn, account.id, session: $0.id), entry(.refreshReused, account.id, session: $0.id)]
            }
            #expect(try store.restore(moved(account, sessions, audit)))
            #expect(try Set(store.sessions(of: account.id, at: noon)) == Set(sessions))
            #expect(try store.audit(of: account.id) == audit)
            // The audit goes on where it was.
            _ = try store.signIn(account) { login(of: $0) }
            #expect(try store.audit(of: account.id).dropLast() == audit[...])
            #expect(try store.session(sessions[77].id)?.0 == sessions[77])
        }
    }

    /// The first of its transactions is done and the second is not: nobody sees it, and it is not taken for a deleted one.
    @Test(.enabled(if: DynamoDBServer.isInstalled)) func anAccountThatCameHalfIsNotThereAndComesWholeLater() throws {
        let server = try DynamoDBServer()
        defer { server.stop() }
        try server.withTable { url in
            // Only what is to fail is impatient: on a slow machine the rest takes its time.
            let impatient = try UserStores.open(url, isDevelopment: true, patience: .milliseconds(400))
            let store = try UserStores.open(url, isDevelopment: true)
            let account = person("1")
            let sessions = (0..<60).map { _ in login(of: account) }
            let whole = moved(account, sessions, sessions.map { entry(.signedIn, account.id, session: $0.id) })
            try server.fail([DynamoDBServer.Fault(.dropAfter, on: "TransactWriteItems", times: 1000)])
            #expect(throws: StoreError.self) { try impatient.restore(whole) }
            try server.fail([])
            #expect(try store.account(account.id) == nil && store.session(sessions[0].id) == nil)
            _ = try server.log()
            // Exported anew meanwhile: a session has ended, and another was used.
            var later = Array(sessions.dropFirst())
            later[0].lastUsedAt = noon.adding(seconds: 5)
            let audit = later.map { entry(.signedIn, account.id, session: $0.id) }
            #expect(try store.restore(moved(account, later, audit)))
            #expect(try Set(store.sessions(of: account.id, at: noon)) == Set(later))
            #expect(try store.session(sessions[0].id) == nil)
            #expect(try store.audit(of: account.id) == audit)
            let items = try server.items(of: String(url.dropFirst("dynamodb:".count).prefix { $0 != "?" }))
            #expect(!items.contains { $0.contains(sessions[0].id.description) })
            // 49 were there, of which one goes, and one is not as it was.
            let written = try server.log().log.filter { $0.operation == "TransactWriteItems" }.map(\.body).joined()
            #expect(written.components(separatedBy: "session_owner").count - 1 == 59 - 47)
        }
    }

    /// An account with twenty thousand sessions never came: it had the patience of one request, and began anew each time.
    @Test(.enabled(if: DynamoDBServer.isInstalled)) func howLongAnAccountTakesToComeIsNoMatterWhileDynamoDBAnswers()
        throws
    {
        let server = try DynamoDBServer()
        defer { server.stop() }
        try server.withTable { url in
            let impatient = try UserStores.open(url, isDevelopment: true, patience: .seconds(2))
            let account = person("1")
            let sessions = (0..<200).map { _ in login(of: account) }
            try server.fail([DynamoDBServer.Fault(.delay, on: "TransactWriteItems", times: 5) { $0.seconds = 0.5 }])
            #expect(try impatient.restore(moved(account, sessions)))
            #expect(try server.faultsLeft() == 0)
        }
    }

    /// One of a hundred items of the audit was more than DynamoDB's store took, and ended the import.
    @Test(arguments: StoreUnderTest.all)
    func theAuditOfWhoWasDeletedMovesHoweverLong(_ subject: StoreUnderTest) throws {
        try subject.withStore { (store: any UserStore) throws in
            let id = person("1").id
            let audit = (0..<20_001).map { _ in entry(.signedIn, id) } + [entry(.accountDeleted, id)]
            #expect(try store.restore(.formerAudit(of: id, audit)))
            #expect(try store.audit(of: id) == audit)
            #expect(try !store.restore(.formerAudit(of: id, audit)))
            #expect(try !store.restore(.formerAudit(of: id, Array(audit.suffix(2)))))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aMarkIsRememberedForTheLongerOfTwoTimes(_ subject: StoreUnderTest) throws {
        let name = randomBytes(32)
        func mark(_ seconds: Int64) -> Mark { Mark(name: name, expiresAt: noon.adding(seconds: seconds)) }
        try subject.withStore { (store: any UserStore) throws in
            #expect(try store.restore(.mark(mark(100))))
            #expect(try store.restore(.mark(mark(200))))
            #expect(try !store.restore(.mark(mark(50))))
            #expect(try marks(of: store) == [mark(200)])
        }
    }

    @Test func aLineThatIsNotExactlyWhatIsWrittenIsNoEntry() throws {
        let account = full("1")
        let entry = moved(
            account, [login(of: account, on: .object(["n": .decimal("1e2")]))], [entry(.signedIn, account.id)])
        let line = StoreFile.line(entry).dropLast()
        #expect(StoreEntry(line: line) == entry)
        let text = String(decoding: line, as: UTF8.self)
        for (part, other) in [
            ("{\"account\"", "{ \"account\""), ("\"apple_sub\":\"1\"", "\"apple_sub\":null"),
            ("\"sessions\"", "\"more\":1,\"sessions\""), ("signed_in", "signed_out"),
            ("\"email_verified\":true", "\"email_verified\":\"true\""),
            ("\"previous_digest\":null", "\"previous_digest\":\"AA\""),
        ] {
            #expect(text.contains(part))
            let changed = text.replacingOccurrences(of: part, with: other)
            #expect(StoreEntry(line: Array(changed.utf8)[...]) == nil, "\(part)")
        }
        #expect(StoreEntry(line: Array(#"{"mark":{"name":"AA","expires_at":1}}"#.utf8)[...]) == nil)
    }

    @Test func whatHasExpiredStaysBehind() throws {
        let account = person("1")
        let (short, long) = (login(of: account, days: 1), login(of: account, days: 30))
        let later = noon.adding(seconds: 2 * 86_400)
        #expect(moved(account, [short, long]).alive(at: later) == moved(account, [long]))
        #expect(StoreEntry.mark(Mark(name: randomBytes(32), expiresAt: later)).alive(at: later) == nil)
    }

    // MARK: -

    private func entries(of store: any UserStore) throws -> [StoreEntry] {
        var entries: [StoreEntry] = []
        try store.forEachEntry(at: noon) { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    private func all(of store: any UserStore) throws -> Set<String> {
        let lines = try entries(of: store).map { String(decoding: StoreFile.line($0), as: UTF8.self) }
        #expect(Set(lines).count == lines.count)
        return Set(lines)
    }

    private func marks(of store: any UserStore) throws -> [Mark] {
        var marks: [Mark] = []
        try store.forEachLoneEntry(at: noon) { entry in
            if case .mark(let mark) = entry { marks.append(mark) }
            return true
        }
        return marks
    }

    private func moved(_ account: Account, _ sessions: [Session], _ audit: [AuditEntry] = []) -> StoreEntry {
        .account(
            account, sessions: sessions, grants: [],
            audit: audit.isEmpty ? [entry(.accountCreated, account.id)] : audit)
    }

    private func grant(of account: UUIDv7, _ client: String) -> AppleGrant {
        AppleGrant(accountID: account, clientID: client, keyID: "k1", sealed: randomBytes(60), obtainedAt: noon)
    }

    /// Somebody of whom everything is known.
    private func full(_ subject: String) -> Account {
        Account(
            id: UUIDv7(at: noon, random: randomBytes(10)), appleSubject: subject,
            transferSubject: "moving\u{0}\(subject)",
            profile: Profile(
                fullName: "Ana\u{0} \"\u{10}Garc\u{ED}a\u{301}\"\n",
                email: AppleEmail(address: "ana@example.com", isVerified: true, isPrivate: false),
                contactEmail: "other@example.com"),
            createdAt: noon, updatedAt: noon, disabledAt: noon.adding(seconds: 1),
            consentRevokedAt: noon.adding(seconds: 2), forwarding: EmailForwarding(isOn: false, since: noon))
    }
}
