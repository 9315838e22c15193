#if PostgreSQL
import Foundation
import TestSupport
import Testing

/// Sign-ins against a users table that was there before: the worked example of `deploy/postgresql/users`, with the program itself
/// as a role that sees no password.
@Suite(.serialized) struct UsersTableTests {
    private static let deployed = Programs.packageRoot.appending(path: "deploy/postgresql")

    /// A database of its own with the example in it, and the function before it. Making one takes a second, so the tests
    /// share it and empty it.
    private struct Example {
        static let shared = Result { try Example() }
        let site: FunctionSite
        let database = PostgreSQLServer.newSchema()
        private let server = PostgreSQLServer.shared

        static func emptied(isLinking: Bool = true) throws -> Example {
            let example = try shared.get()
            try example.sql(
                """
                TRUNCATE public.users, auth_apple.sessions, auth_apple.audit, auth_apple.receipts, auth_apple.marks
                """)
            example.site.environment["AUTH_APPLE_LINK_VERIFIED_EMAIL"] = isLinking ? "true" : "false"
            example.site.environment["AUTH_APPLE_ACCOUNT_QUERIES"] = deployed.appending(path: "users").path()
            return example
        }

        private init() throws {
            site = try FunctionSite()
            try server.psql("CREATE DATABASE \(database)")
            for file in ["role.sql", "users/users.sql", "users/apple.sql"] {
                try server.psql(file: deployed.appending(path: file), database: database)
            }
            site.environment["AUTH_APPLE_STORE"] =
                "postgres://auth_apple_function@/\(database)?host=\(server.folder)&port=\(server.port)"
        }

        @discardableResult
        func sql(_ text: String) throws -> String { try server.psql(text, database: database) }

        /// Somebody who was there before; their id.
        func user(_ email: String, verified: Bool = true, google: String? = nil, password: String? = nil) throws
            -> String
        {
            let quoted = { (text: String?) in text.map { "'\($0)'" } ?? "NULL" }
            return try sql(
                """
                INSERT INTO users (email, email_verified, google_sub, password_hash, name)
                VALUES ('\(email)', \(verified), \(quoted(google)), \(quoted(password)), 'Ana') RETURNING id
                """)
        }

        func signIn(_ subject: String, _ options: String...) throws -> FunctionSite.Answer {
            try site.send(site.event(token: token(subject, options)))
        }

        func token(_ subject: String, _ options: [String]) throws -> String {
            let ran = try Ran(
                [Programs.built("apple-simulator").path(), "token", "--subject", subject] + options,
                environment: site.environment)
            return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func whoHasBeenHereBeforeIsLinkedAndKeepsTheirWaysIn() throws {
        let example = try Example.emptied()
        let ana = try example.user("Ana@Example.com", google: "g-1", password: "hash")
        let first = try example.signIn("001.ana", "--email", "ana@example.COM")
        #expect(first.status == 200 && first.accountID == ana, "\(first.log)")
        let again = try example.signIn("001.ana", "--email", "new@example.com")
        #expect(again.status == 200 && again.accountID == ana)
        #expect(
            try example.sql("SELECT email, email_verified, google_sub, password_hash, name, apple_sub FROM users")
                == "Ana@Example.com|t|g-1|hash|Ana|001.ana", "the address is that of the other ways in")
        #expect(
            try example.sql("SELECT event FROM auth_apple.audit ORDER BY number")
                == "account_linked\nsigned_in\nsigned_in")
        // The session is one like any other.
        let refreshed = try example.site.send(
            FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": again.refreshToken]))
        #expect(refreshed.status == 200 && refreshed.accountID == ana)
        let me = try example.site.send(
            FunctionSite.event("GET", "/auth/me", body: [:], headers: ["authorization": "Bearer \(again.accessToken)"]))
        #expect(me.status == 200, "\(me.log)")
        let export = try example.site.run("accounts", "export", ana)
        #expect(export.status == 0 && export.text.contains("001.ana"))
        #expect(try example.site.run("accounts", "delete", ana).status == 0)
        let late = try example.signIn("001.ana", "--issued-at", "-3600")
        #expect(late.status == 401 && late.log[0]["reason"] as? String == "too_old", "\(late.log)")
        #expect(try example.sql("SELECT count(*) FROM users") == "0")
        #expect(try example.signIn("001.ana").status == 201)
    }

    /// Why somebody with the same address is somebody else.
    enum Stranger: CaseIterable {
        case unverifiedHere, unverifiedThere, unknownThere, relay, relayByAddress, twoWithOneAddress, otherSubject,
            kelvinSign
        case notConfigured, disabled
    }

    @Test(arguments: Stranger.allCases)
    func whoeverIsNotSurelyTheSameIsSomebodyNew(_ stranger: Stranger) throws {
        let example = try Example.emptied(isLinking: stranger != .notConfigured)
        var options = ["--email", "kim@example.com"]
        var address = "kim@example.com"
        switch stranger {
        case .unverifiedHere, .twoWithOneAddress, .otherSubject, .notConfigured, .disabled: break
        case .unverifiedThere: options += ["--email-verified", "false"]
        case .unknownThere: options += ["--without", "email_verified"]
        case .relay: options += ["--private-email", "true"]
        case .relayByAddress:
            address = "kim@privaterelay.appleid.com"
            options = ["--email", address, "--private-email", "false"]
        case .kelvinSign: options = ["--email", "\u{212A}im@example.com"]
        }
        let known = try example.user(address, verified: stranger != .unverifiedHere, google: "g-1")
        switch stranger {
        case .twoWithOneAddress: _ = try example.user("KIM@example.com", password: "hash")
        case .otherSubject: try example.sql("UPDATE users SET apple_sub = '001.other'")
        case .disabled: try example.sql("UPDATE users SET disabled_at = now()")
        default: break
        }
        let token = try example.token("001.kim", options)
        let answer = try example.site.send(example.site.event(token: token))
        if stranger == .disabled {
            #expect(answer.status == 403)
            #expect(try example.sql("SELECT count(*), count(apple_sub) FROM users") == "1|0")
            return
        }
        #expect(answer.status == 201 && answer.accountID != known, "\(answer.log)")
        #expect(
            try example.sql("SELECT coalesce(apple_sub, 'none') FROM users WHERE id = '\(known)'")
                == (stranger == .otherSubject ? "001.other" : "none"))
        #expect(try example.signIn("001.kim").accountID == answer.accountID)
    }

    @Test func ofManyAtOnceOneIsLinkedOrMadeAndAllFindTheSame() throws {
        let example = try Example.emptied()
        let ana = try example.user("ana@example.com", google: "g-1")
        let linking = try example.site.atOnce(
            Array(
                repeating: example.site.event(token: example.token("001.ana", ["--email", "ana@example.com"])),
                count: 12))
        #expect(linking.allSatisfy { $0.status == 200 && $0.accountID == ana })
        #expect(try example.sql("SELECT count(*) FROM auth_apple.audit WHERE event = 'account_linked'") == "1")
        let making = try example.site.atOnce(
            Array(repeating: example.site.event(token: example.token("001.new", [])), count: 12))
        #expect(making.count { $0.status == 201 } == 1 && Set(making.map(\.accountID)).count == 1)
        #expect(try example.sql("SELECT count(*) FROM users") == "2")
    }

    @Test func theCheckSaysThatTheMappingIsGoodAndLeavesNoTrace() throws {
        let example = try Example.emptied()
        _ = try example.user("ana@example.com", google: "g-1")
        let ran = try example.site.run("check")
        #expect(ran.status == 0 && ran.text.contains("the users table is yours"), "\(ran.text)")
        #expect(!ran.text.contains("does not keep"), "\(ran.text)")
        #expect(try example.sql("SELECT count(*) FROM users") == "1")
    }

    /// Each file, spoilt in one way.
    @Test(arguments: [
        ("find_by_id", "FOR UPDATE", "", "FOR UPDATE"), ("find_by_id", "WHERE id = $1", "WHERE id = $2", "parameters"),
        ("find_by_id", "contact_email,", "", "contact_email"), ("list", "id, apple_sub", "id::text, apple_sub", "cast"),
        ("find_by_apple_sub", "public.users", "public.persons", "42P01"),
        ("insert", "RETURNING id", "", "RETURNING id"),
        ("find_by_apple_sub", "apple_sub = $1", "apple_sub = $1 || 'x'", "does not find"),
        ("update", "disabled_at = $11,", "", "disabled_at"), ("update", "apple_sub = $2,", "", "apple_sub"),
        ("delete", "WHERE id = $1", "WHERE id = $1 AND false", "delete.sql"),
        ("find_by_verified_email", "FOR UPDATE", "AND apple_sub IS NULL FOR UPDATE", "every account"),
        ("update", "contact_email = $8,", "", "does not keep contact_email"),
    ])
    func theCheckNamesTheFileThatBreaksTheContract(_ file: String, _ text: String, _ other: String, _ word: String)
        throws
    {
        let example = try Example.emptied()
        let folder = example.site.folder.appending(path: "queries-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: Self.deployed.appending(path: "users"), to: folder)
        let place = folder.appending(path: "\(file).sql")
        let original = try String(contentsOf: place, encoding: .utf8)
        #expect(original.contains(text))
        try original.replacingOccurrences(of: text, with: other).write(to: place, atomically: true, encoding: .utf8)
        example.site.environment["AUTH_APPLE_ACCOUNT_QUERIES"] = folder.path()
        let ran = try example.site.run("check")
        #expect(ran.text.contains(word), "\(ran.text)")
        if word.hasPrefix("does not keep") { return }
        #expect(ran.status == 78 && ran.text.contains("\(file).sql"), "\(ran.text)")
    }

    @Test func aConfigurationThatCannotLinkIsRefused() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_LINK_VERIFIED_EMAIL"] = "true"
        for store in [site.environment["AUTH_APPLE_STORE"] ?? "", "postgres://host/db"] {
            site.environment["AUTH_APPLE_STORE"] = store
            let ran = try site.run("check")
            #expect(ran.status == 78 && ran.text.contains("LINK_VERIFIED_EMAIL"), "\(ran.text)")
        }
        site.environment["AUTH_APPLE_ACCOUNT_QUERIES"] = site.folder.appending(path: "absent").path()
        #expect(try site.run("check").text.contains("names no folder"))
        site.environment["AUTH_APPLE_STORE"] = "memory:"
        #expect(try site.run("check").text.contains("goes with a store in PostgreSQL"))
    }
}
#endif
