#if PostgreSQL
import Accounts
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// The tables, who may do what with them, and how they are saved and brought back.
@Suite(.serialized) struct PostgreSQLSchemaTests {
    private let server = PostgreSQLServer.shared
    private static let deployed = Programs.packageRoot.appending(path: "deploy/postgresql")

    @Test func theDeployedSchemaIsTheProgramsOwn() throws {
        let deployed = try String(contentsOf: Self.deployed.appending(path: "schema.sql"), encoding: .utf8)
        #expect(deployed == PostgreSQLSchema.script)
    }

    @Test func aLookMakesNoSchema() throws {
        let store = try UserStores.open(server.url(schema: PostgreSQLServer.newSchema()))
        for _ in 0..<2 {
            #expect(try !store.hasCurrentSchema())
            #expect(try store.check().contains("empty"))
        }
        _ = try store.signIn(person("1")) { login(of: $0) }
        #expect(try store.hasCurrentSchema())
    }

    @Test func anotherProgramsTablesAndNewerOnesOfOursAreRefused() throws {
        let (foreign, newer) = (PostgreSQLServer.newSchema(), PostgreSQLServer.newSchema())
        try server.psql("CREATE SCHEMA \(foreign); CREATE TABLE \(foreign).users (id int)")
        _ = try UserStores.open(server.url(schema: newer)).migrate()
        try server.psql("INSERT INTO \(newer).schema_steps (step) VALUES (99)")
        for (schema, word) in [(foreign, "another program"), (newer, "newer")] {
            let store = try UserStores.open(server.url(schema: schema))
            for attempt in [
                { _ = try store.migrate() }, { _ = try store.check() },
                { _ = try store.signIn(person("1")) { login(of: $0) } },
            ] {
                let error = #expect(throws: StoreError.self) { try attempt() }
                #expect("\(String(describing: error))".contains(word), "\(String(describing: error))")
            }
        }
    }

    /// The worked deployment, in a database of its own: three roles, a backup, and what it brings back.
    @Test func eachRoleCanDoItsWorkAndNoMoreAndABackupBringsAllBack() throws {
        let database = PostgreSQLServer.newSchema()
        try server.psql("CREATE DATABASE \(database)")
        for _ in 0..<2 {
            try server.psql(file: Self.deployed.appending(path: "role.sql"), database: database)
        }
        let url = { (role: String) in
            server.url(user: "auth_apple_\(role)", database: database, schema: "auth_apple")
        }
        let function = try UserStores.open(url("function"))
        let made = try function.signIn(person("1", Profile(fullName: "Ana"))) { login(of: $0) }
        let other = try function.signIn(person("2")) { login(of: $0) }
        _ = try function.count(attemptKey(1), window: noon, of: 60)
        try function.keep(
            AppleGrant(accountID: other.account.id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: noon))
        try function.change(account: other.account.id) {
            .delete(revoking: true, remembering: nil, entry(.accountDeleted, $0.id))
        }
        #expect(try function.check().contains("schema 1, 1 accounts, 1 sessions"))
        let migrator = try UserStores.open(url("migrator"))
        #expect(try migrator.migrate() == SchemaChange(from: 1, to: 1))
        for forbidden in [
            "CREATE TABLE auth_apple.x (i int)", "ALTER TABLE auth_apple.accounts ADD x int",
            "DROP TABLE auth_apple.marks", "UPDATE auth_apple.audit SET event = 'x'", "DELETE FROM auth_apple.audit",
            "INSERT INTO auth_apple.schema_steps VALUES (2)", "CREATE SCHEMA y", "TRUNCATE auth_apple.sessions",
        ] {
            let failure = #expect(throws: PostgreSQLServer.Failure.self, "\(forbidden)") {
                try server.psql(forbidden, user: "auth_apple_function", database: database)
            }
            #expect(
                failure?.text.contains("permission denied") == true || failure?.text.contains("must be owner") == true)
        }
        #expect(throws: StoreError.self, "the audit is not the function's to purge") {
            try function.purge(before: noon)
        }
        let audit = try function.audit(of: made.account.id)

        let dump = server.folder + "/\(database).dump"
        try server.run(
            "pg_dump", "-h", server.folder, "-p", "\(server.port)", "-U", "postgres", "-Fc", "--schema=auth_apple",
            "-f", dump,
            database)
        try server.psql("DROP SCHEMA auth_apple CASCADE", database: database)
        let empty = #expect(throws: StoreError.self) {
            try UserStores.open(url("function")).signIn(person("1")) { login(of: $0) }
        }
        #expect("\(String(describing: empty))".contains("42501"), "\(String(describing: empty))")
        try server.run(
            "pg_restore", "-h", server.folder, "-p", "\(server.port)", "-U", "postgres", "--exit-on-error", "-d",
            database, dump)
        let restored = try UserStores.open(url("function"))
        #expect(try restored.check().contains("schema 1, 1 accounts, 1 sessions"))
        #expect(try restored.session(made.session.id)?.0 == made.session)
        #expect(try restored.audit(of: made.account.id) == audit)
        #expect(try restored.revocations(limit: 9).count == 1)
        #expect(try !restored.signIn(person("1")) { login(of: $0) }.isNew)
        let purged = try UserStores.open(url("operator")).purge(before: noon.adding(seconds: 500 * 86_400))
        #expect(purged.sessions == 2 && purged.attempts == 1 && purged.auditEntries > 0)
    }

    /// Statements go into the server's log when they fail, and what they were about must not.
    @Test func theServersLogHasNothingOfAPerson() throws {
        let url = server.url()
        let probes = try StoreProbe.atOnce(24) { _ in try StoreProbe(url, "canary-in-log", ["--at-gate"]) }
        for probe in probes { _ = try probe.signedIn() }
        let log = server.log()
        #expect(log.contains("ready to accept connections"))
        #expect(!log.contains("canary"))
    }
}
#endif
