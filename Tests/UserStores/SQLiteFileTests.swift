#if SQLite
import Accounts
import Foundation
import JOSE
import SQLiteShim
import Testing

@testable import UserStores

/// The database as a file among others: its modes, its settings, and what is not ours.
@Suite struct SQLiteFileTests {
    @Test func nothingIsCreatedBeforeTheFirstUse() throws {
        try withFolder { folder in
            let store = try UserStores.open("sqlite:\(folder)/a/b/accounts.db")
            #expect(try store.check().contains("does not exist yet"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            _ = try store.signIn(person("1")) { login(of: $0) }
            #expect(FileManager.default.fileExists(atPath: "\(folder)/a/b/accounts.db"))
        }
    }

    @Test(arguments: ["000", "022", "377"])
    func onlyTheOwnerMayReadWhatIsCreated(umask: String) throws {
        try withFolder { folder in
            let state = "\(folder)/state"
            // Under 377 a folder would be of no use to anybody but root.
            if umask == "377" { try make(state, mode: 0o700) }
            _ = try StoreProbe("sqlite:\(state)/accounts.db", "1", ["--umask", umask]).signedIn()
            #expect(try mode(state) == 0o700)
            for name in ["accounts.db", "accounts.db-wal", "accounts.db-shm"] {
                #expect(try mode("\(state)/\(name)") == 0o600, "\(name)")
            }
        }
    }

    @Test(arguments: [0o777, 0o1777])
    func noDatabaseIsCreatedWhereEverybodyMayWrite(folderMode: Int) throws {
        try withFolder { folder in
            try make("\(folder)/open", mode: folderMode)
            let store = try UserStores.open("sqlite:\(folder)/open/accounts.db")
            for refused in [
                #expect(throws: StoreError.self) { try store.check() },
                #expect(throws: StoreError.self) { try store.migrate() },
            ] {
                #expect("\(String(describing: refused))".contains("use a folder of its own"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/open").isEmpty)
        }
    }

    @Test(arguments: ["", "-wal"], [0o644, 0o660, 0o602])
    func theCheckTellsWhenOthersMayUseTheFile(suffix: String, fileMode: Int) throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            try FileManager.default.setAttributes([.posixPermissions: fileMode], ofItemAtPath: path + suffix)
            let error = #expect(throws: StoreError.self) { try store.check() }
            #expect("\(String(describing: error))".contains("chmod 600 \(path)\(suffix)"))
        }
    }

    @Test func everyConnectionIsDurableAndKeepsForeignKeys() throws {
        try withDatabase { path, store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let connection = try open(path)
            #expect(try connection.text("PRAGMA journal_mode") == "wal")
            #expect(try connection.integer("PRAGMA synchronous") == 2)
            #expect(try connection.integer("PRAGMA foreign_keys") == 1)
            #expect(try connection.integer("PRAGMA trusted_schema") == 0)
            #expect(
                try connection.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict") == 8)
            #expect(throws: SQLiteFailure.self) {
                try connection.insert(login(of: person("nobody")))
            }
            try connection.execute("DELETE FROM accounts WHERE id = ?1", [.blob(made.account.id.bytes)])
            #expect(try store.session(made.session.id) == nil)
        }
    }

    /// PRAGMA synchronous works while it is compiled, so what is said again has to be compiled again.
    @Test func whatIsSaidAboutSyncHoldsEachTime() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let connection = try open(path)
            // The table is read anew each time; the answer of PRAGMA synchronous is compiled as well.
            let level: StaticString = "SELECT synchronous FROM pragma_synchronous"
            for _ in 0..<3 {
                let within = try connection.withoutSync { connection throws(SQLiteFailure) in
                    try connection.integer(level)
                }
                #expect(within == 1)
                #expect(try connection.integer(level) == 2)
            }
        }
    }

    @Test func aStatementThatIsUsedAgainIsAsNew() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let connection = try open(path)
            let count: StaticString = "SELECT count(*) FROM accounts WHERE apple_sub = ?1 OR ?1 IS NULL AND ?2 = 3"
            #expect(try connection.integer(count, [.text("1"), .integer(3)]) == 1)
            #expect(try connection.integer(count) == 0, "nothing is bound any more")
            let rows: StaticString = "SELECT 1 UNION ALL SELECT 2 ORDER BY 1"
            for _ in 0..<2 {
                var left = try connection.prepare(rows)
                var other = try connection.prepare(rows)
                let areRows = try (left.step(), other.step())
                let values = (left.integer(0), other.integer(0))
                #expect(areRows == (true, true) && values == (1, 1), "each begins anew, where the last was left")
            }
            // Another connection changes the table, and this one sees the change.
            let shape: StaticString = "SELECT count(*) FROM pragma_table_info('marks') WHERE ?1 IS NULL"
            let wide: StaticString = "SELECT max(name IS NULL) FROM marks"
            #expect(try connection.integer(shape) == 2 && connection.integer(wide) == nil)
            try open(path).execute("ALTER TABLE marks ADD COLUMN further TEXT")
            #expect(try connection.integer(shape) == 3 && connection.integer(wide) == nil)
        }
    }

    @Test func theSubjectIsUniqueInTheTableItself() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let connection = try open(path)
            let error = #expect(throws: SQLiteFailure.self) { try connection.insert(person("1")) }
            #expect(error == .code(2067), "SQLITE_CONSTRAINT_UNIQUE")
        }
    }

    @Test func theAuditIsOnlyAddedTo() throws {
        try withDatabase { path, store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let before = try store.audit(of: made.account.id)
            let connection = try open(path)
            for change in [
                "UPDATE audit SET event = 'logged_out'", "UPDATE audit SET time = 1", "UPDATE audit SET number = 9",
                "UPDATE audit SET account_id = zeroblob(16)", "UPDATE audit SET session_id = NULL",
                "UPDATE audit SET reason = 'x'", "UPDATE audit SET request_id = 'x'",
                "UPDATE audit SET source_address = '192.0.2.9'",
                "UPDATE audit SET source_address = NULL, event = 'logged_out'",
                "INSERT INTO audit SELECT * FROM audit",
            ] as [StaticString] {
                #expect(throws: SQLiteFailure.self, "\(change)") { try connection.execute(change) }
            }
            #expect(try store.audit(of: made.account.id) == before)
            #expect(try connection.text("SELECT group_concat(number) FROM audit") == "1,2")
        }
    }

    /// `VACUUM INTO` gives a file with a rollback journal.
    @Test func aRestoredBackupGetsItsWriteAheadLogAgain() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let copy = path + ".copy"
            try open(path).execute("VACUUM INTO ?1", [.text(copy)])
            chmod(copy, 0o600)
            #expect(try Data(contentsOf: URL(fileURLWithPath: copy))[18] == 1, "a rollback journal")
            let restored = try UserStores.open("sqlite:\(copy)")
            #expect(try !restored.signIn(person("1")) { login(of: $0) }.isNew)
            #expect(try open(copy).text("PRAGMA journal_mode") == "wal")
        }
    }

    /// The change to a write-ahead log is refused at once while another connection writes, whatever the busy handler says.
    @Test func theChangeToAWriteAheadLogWaitsForAWriter() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path
        try make(folder, mode: 0o700)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/accounts.db"
        _ = try UserStores.open("sqlite:\(path).first").signIn(person("1")) { login(of: $0) }
        try open(path + ".first").execute("VACUUM INTO ?1", [.text(path)])
        chmod(path, 0o600)
        var handle: OpaquePointer?
        #expect(sqlite3_open(path, &handle) == SQLITE_OK)
        #expect(
            sqlite3_exec(handle, "BEGIN IMMEDIATE; UPDATE accounts SET full_name = 'x'", nil, nil, nil) == SQLITE_OK)
        // A thread, because a task may wait for longer than the store's patience where many tests run at once.
        nonisolated(unsafe) let writer = handle
        let commit = Thread {
            usleep(300_000)
            sqlite3_exec(writer, "COMMIT", nil, nil, nil)
            sqlite3_close_v2(writer)
        }
        commit.start()
        #expect(try !UserStores.open("sqlite:\(path)").signIn(person("1")) { login(of: $0) }.isNew)
    }

    /// Otherwise a long-lived process would write into a file that nobody will ever open again.
    @Test func aStoreFollowsItsPathWhenTheFileIsReplaced() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
            #expect(try store.signIn(person("1")) { login(of: $0) }.isNew)
            #expect(try !UserStores.open("sqlite:\(path)").signIn(person("1")) { login(of: $0) }.isNew)
        }
    }

    /// Regression: where one process came after the other the log was copied at each commit and never begun anew.
    @Test func theLogStaysShortWhereEveryRequestOpensTheFileAlone() throws {
        try withFolder { folder in
            let path = "\(folder)/accounts.db"
            var longest = 0
            for index in 0..<400 {
                _ = try UserStores.open("sqlite:\(path)").signIn(person("\(index % 10)")) { login(of: $0) }
                let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
                longest = max(longest, try #require(size))
            }
            #expect(longest < 270 * 4120, "\(longest) bytes")
            #expect(longest > 200 * 4120, "it is not copied at each commit")
            #expect(try UserStores.open("sqlite:\(path)").check().contains("10 accounts, 400 sessions"))
        }
    }

    /// A reader keeps the log from being cut off; the sign-in does not wait for it and does not fail.
    @Test func aLongLogIsNotWaitedFor() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let reader = try open(path)
            try reader.execute("BEGIN")
            _ = try reader.integer("SELECT count(*) FROM accounts")
            // A busy machine may be slow once; a store that waits does so at each commit from the first long log on.
            var latest = Duration.seconds(60)
            for _ in 0..<200 {
                let began = ContinuousClock.now
                _ = try store.signIn(person("1")) { login(of: $0) }
                latest = began.duration(to: .now)
                if latest > .seconds(4) { break }
            }
            #expect(latest < .seconds(4), "the patience of one checkpoint is longer")
            try reader.execute("COMMIT")
            for _ in 0..<2 { _ = try store.signIn(person("1")) { login(of: $0) } }
            let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
            #expect(try #require(size) < 20 * 4120, "the next commit cuts it off")
        }
    }

    @Test func theDeployedSchemaIsTheProgramsOwn() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let deployed = try String(contentsOf: root.appendingPathComponent("deploy/sqlite/schema.sql"), encoding: .utf8)
        #expect(deployed == Schema.steps.map { "\($0)\n" }.joined())
    }

    @Test func eachStepOfTheSchemaSaysItsNumber() throws {
        try withDatabase { path, store throws in
            let change = try store.migrate()
            #expect(change == SchemaChange(from: 0, to: Schema.steps.count))
            #expect(try open(path).schemaVersion() == Schema.steps.count)
            #expect(try open(path).integer("PRAGMA application_id") == Schema.applicationID)
        }
    }

    /// A file of every version before this one is brought up to date by the first request, and keeps what it holds.
    @Test(arguments: 1..<Schema.steps.count)
    func anOlderFileIsBroughtUpToDate(_ version: Int) throws {
        try withDatabase { path, store in
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
            let id = person("1").id
            do {
                let old = try open(path)
                for step in Schema.steps[..<version] { try old.executeAll(step) }
                try old.execute(
                    "INSERT INTO accounts (id, apple_sub, full_name, created_at, updated_at) VALUES (?1, '1', 'Ana', 5, 6)",
                    [.blob(id.bytes)])
            }
            // A look changes nothing: the program that still serves may be the one before.
            #expect(try !store.hasCurrentSchema() && store.check().contains("to become \(Schema.steps.count)"))
            #expect(try open(path).schemaVersion() == version)
            let made = try store.signIn(person("1")) { login(of: $0) }
            #expect(!made.isNew)
            #expect(
                made.account
                    == Account(
                        id: id, appleSubject: "1", profile: Profile(fullName: "Ana"),
                        createdAt: UnixTime(milliseconds: 5), updatedAt: UnixTime(milliseconds: 6)))
            #expect(try open(path).schemaVersion() == Schema.steps.count)
        }
    }

    @Test func aNewerSchemaIsRefusedAndLeftAlone() throws {
        try withDatabase { path, store in
            _ = try store.migrate()
            try open(path).executeAll("PRAGMA user_version = 999")
            try expectUnusable(path, saying: "newer")
            #expect(try open(path).integer("PRAGMA user_version") == 999)
        }
    }

    @Test func anotherProgramsDatabaseIsRefusedAndLeftAlone() throws {
        for sql in ["CREATE TABLE accounts (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"]
            as [StaticString]
        {
            try withDatabase { path, _ in
                _ = FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
                try open(path).executeAll(sql)
                try expectUnusable(path, saying: "another program")
                #expect(try open(path).integer("SELECT count(*) FROM sqlite_schema WHERE name = 'sessions'") == 0)
                // It was refused with a write-ahead log that its own program never asked for.
                try open(path).executeAll("PRAGMA journal_mode = DELETE")
                let before = try Data(contentsOf: URL(fileURLWithPath: path))
                try expectUnusable(path, saying: "another program")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            }
        }
    }

    @Test func aFileThatIsNoDatabaseIsRefusedAndLeftAlone() throws {
        try withDatabase { path, _ in
            let text = Data(String(repeating: "canary: not a database\n", count: 500).utf8)
            _ = FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600])
            try expectUnusable(path, saying: "SQLITE_NOTADB")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
        }
    }

    /// Regression: its modes were looked at once it was open, when SQLite had taken in a log that lay beside it.
    @Test(arguments: [0o606, 0o660]) func aFileThatOthersMayUseIsNotEvenOpened(fileMode: Int) throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let files = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
            #expect(files.allSatisfy { !$0.isEmpty }, "the last commits are in the log")
            try withFolder { folder in
                // As a crash leaves them: the next to open the file would copy the log into it.
                let copy = "\(folder)/accounts.db"
                for (suffix, bytes) in zip(["", "-wal"], files) {
                    _ = FileManager.default.createFile(
                        atPath: copy + suffix, contents: bytes, attributes: [.posixPermissions: fileMode])
                }
                try expectUnusable(copy, saying: "chmod 600")
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                        "accounts.db", "accounts.db-wal",
                    ])
                for (suffix, bytes) in zip(["", "-wal"], files) {
                    #expect(try Data(contentsOf: URL(fileURLWithPath: copy + suffix)) == bytes)
                }
            }
        }
    }

    @Test func anEmptyFileBecomesADatabase() throws {
        try withDatabase { path, store throws in
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            #expect(try store.check().contains("empty"))
            #expect(try store.signIn(person("1")) { login(of: $0) }.isNew)
        }
    }

    @Test func damagedPagesAreNoticed() throws {
        try withDatabase { path, store in
            for index in 0..<50 { _ = try store.signIn(person("\(index)")) { login(of: $0) } }
            try open(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.write(contentsOf: bytes)
            try handle.close()
            for use in [{ _ = try $0.signIn(person("canary")) { login(of: $0) } }, { _ = try $0.check() }]
                as [(any UserStore) throws -> Void]
            {
                let error = try #require(throws: StoreError.self) { try use(UserStores.open("sqlite:\(path)")) }
                guard case .unusable = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test func aTextThatIsNotUTF8IsADamagedRow() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1", Profile(fullName: "canary"))) { login(of: $0) }
            try open(path).execute("UPDATE accounts SET full_name = CAST(x'63616E617279FF' AS TEXT)")
            let error = #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
            #expect("\(String(describing: error))".contains("UTF-8"))
            #expect(!"\(String(describing: error))".contains("canary"))
        }
    }

    private func expectUnusable(_ path: String, saying words: String) throws {
        for use in [
            { _ = try $0.signIn(person("canary")) { login(of: $0) } }, { _ = try $0.migrate() }, { _ = try $0.check() },
        ] as [(any UserStore) throws -> Void] {
            let error = try #require(throws: StoreError.self) { try use(UserStores.open("sqlite:\(path)")) }
            guard case .unusable(let reason) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
            #expect(!reason.contains("canary"))
        }
    }
}

/// A path in a folder of its own, with nothing there yet, and a store on it.
func withDatabase(_ body: (String, any UserStore) throws -> Void) throws {
    try withFolder { try body("\($0)/accounts.db", UserStores.open("sqlite:\($0)/accounts.db")) }
}

func open(_ path: String) throws -> Connection {
    guard let connection = try Connection.open(path, patience: Patience(.seconds(1))) else {
        throw CocoaError(.fileNoSuchFile)
    }
    return connection
}

func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

func make(_ folder: String, mode: Int) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
}

extension SQLiteFileTests {
    /// Found by a reader who planted one: only `check` complained.
    @Test(arguments: ["others can use", "second name", "others can write"])
    func aSignInRefusesAFileThatIsNotOursAlone(_ reason: String) throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            switch reason {
            case "others can use": chmod(path, 0o606)
            case "second name": link(path, path + ".other")
            default: chmod(folder, 0o770)
            }
            let error = #expect(throws: StoreError.self) {
                try UserStores.open("sqlite:\(path)").signIn(person("1")) { login(of: $0) }
            }
            guard case .unusable(let text) = error else {
                Issue.record("not unusable")
                return
            }
            #expect(text.contains(reason))
        }
    }
}
#endif
