#if SQLite && PostgreSQL
import Foundation
import TestSupport
import Testing

/// `auth-apple store export` and `import`: from one store to another, with everybody still signed in.
@Suite(.serialized) struct MovingTests {
    /// A function with accounts in SQLite, one of which was deleted, and whose tokens of Apple's were good once.
    private struct Site {
        static let people = 120
        let site: FunctionSite
        let events: [Data]
        let answers: [FunctionSite.Answer]
        var export: String { site.folder.appending(path: "export").path() }

        init(people: Int = people) throws {
            let site = try FunctionSite()
            self.site = site
            site.environment["AUTH_APPLE_ONE_TIME_TOKENS"] = "true"
            events = try (0..<people).map { number in
                try site.event(token: site.token("--subject", "001.\(number)", "--email", "p\(number)@example.com"))
            }
            let ran = try site.run("lines", input: Data(events.joined(separator: Data("\n".utf8))))
            answers = try ran.output.split(separator: 0x0A).map { try FunctionSite.Answer(output: Data($0)) }
            #expect(answers.count == people && answers.allSatisfy { $0.status == 201 })
            #expect(try site.run("accounts", "delete", answers[0].accountID).status == 0)
        }

        /// The lines between the first and the last, which go in no order.
        func entries(_ place: String) throws -> Set<String> {
            let lines = try String(contentsOfFile: place, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(lines.count > 2)
            return Set(lines.dropFirst().dropLast())
        }

        func refresh(_ answer: FunctionSite.Answer) throws -> FunctionSite.Answer {
            try site.send(
                FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": answer.refreshToken]))
        }

        /// What was moved is in the store that is set now: the same, and people are signed in.
        func check(by number: Int) throws {
            let again = export + ".\(number)"
            #expect(try site.run("store", "export", again).status == 0)
            #expect(try entries(again) == entries(export))
            #expect(try site.send(events[number]).status == 401, "a token of Apple's was good twice")
        }
    }

    @Test func everybodyStaysSignedInFromStoreToStore() throws {
        let from = try Site()
        let site = from.site
        let exported = try site.run("store", "export", from.export)
        #expect(exported.status == 0 && exported.text.contains("\(Site.people - 1) account(s)"), "\(exported.text)")
        #expect(try FileManager.default.attributesOfItem(atPath: from.export)[.posixPermissions] as? Int == 0o600)
        let again = try site.run("store", "export", from.export)
        #expect(again.status == 73 && again.text.contains("exists already"))

        // To PostgreSQL: killed in the middle, and begun again.
        site.environment["AUTH_APPLE_STORE"] = PostgreSQLServer.shared.url()
        #expect(try site.run("store", "migrate").status == 0)
        let wasInTheMiddle = try importing(from, killedOnce: "accounts") { ran in
            #expect(ran.status == 0 && ran.text.contains("very same already"), "\(ran.text)")
        }
        #expect(wasInTheMiddle)
        try from.check(by: 1)
        let ana = try from.refresh(from.answers[1])
        #expect(ana.status == 200 && ana.accountID == from.answers[1].accountID, "\(ana.log)")

        // What has changed there since is not taken back.
        let late = try site.run("store", "import", from.export)
        #expect(
            late.status == 65 && late.text.contains("account \(ana.accountID)  is there already and differs"),
            "\(late.text)")
        #expect(try from.refresh(ana).status == 200)

        // And back.
        let back = from.export + ".back"
        #expect(try site.run("store", "export", back).status == 0)
        site.environment["AUTH_APPLE_STORE"] = "sqlite:\(site.folder.appending(path: "state/back.sqlite").path())"
        #expect(try site.run("store", "import", back).status == 0)
        let last = back + ".again"
        #expect(try site.run("store", "export", last).status == 0)
        #expect(try from.entries(last) == from.entries(back))
        #expect(try from.refresh(from.answers[2]).status == 200)
    }

    @Test(.enabled(if: DynamoDBServer.isInstalled)) func everybodyStaysSignedInInDynamoDB() throws {
        let from = try Site(people: 20)
        #expect(try from.site.run("store", "export", from.export).status == 0)
        from.site.environment["AWS_ACCESS_KEY_ID"] = DynamoDBServer.keyID
        from.site.environment["AWS_SECRET_ACCESS_KEY"] = DynamoDBServer.secret
        try DynamoDBServer.shared.withTable { url in
            from.site.environment["AUTH_APPLE_STORE"] = url
            #expect(try from.site.run("store", "migrate").status == 0)
            let process = try start(from)
            usleep(200_000)
            process.kill(SIGKILL)
            process.wait()
            let ran = try from.site.run("store", "import", from.export)
            #expect(ran.status == 0, "\(ran.text)")
            try from.check(by: 1)
            #expect(try from.refresh(from.answers[1]).status == 200)
        }
    }

    @Test func aFileThatIsNotWholeIsRefusedBeforeAnythingIsWritten() throws {
        let from = try Site(people: 3)
        let whole = try from.site.run("store", "export", "-").output
        let text = String(decoding: whole, as: UTF8.self)
        let lines = text.split(separator: "\n")
        let faults = [
            (lines.dropLast().joined(separator: "\n") + "\n", "is not whole"),
            (String(text.prefix(text.count / 2)), "is no entry"),
            (lines.dropFirst().joined(separator: "\n") + "\n", "is no export"), ("", "is no export"),
            (text.replacingOccurrences(of: "p1@example.com", with: "q1@example.com"), "was changed"),
            (text.replacingOccurrences(of: "\"version\":1", with: "\"version\":2"), "newer version"),
            (text + "{}\n", "was changed"),
            (([lines[0], lines[2], lines[1]] + lines.dropFirst(3)).joined(separator: "\n") + "\n", "was changed"),
        ]
        let place = from.site.folder.appending(path: "state/new.sqlite").path()
        from.site.environment["AUTH_APPLE_STORE"] = "sqlite:\(place)"
        for (text, word) in faults {
            try Data(text.utf8).write(to: URL(filePath: from.export))
            let ran = try from.site.run("store", "import", from.export)
            #expect(
                ran.status == 65 && ran.text.contains(word) && ran.text.contains("Nothing was written"), "\(ran.text)")
            #expect(!FileManager.default.fileExists(atPath: place))
        }
        // A pipe is seen once: what came is written, and its end is named.
        from.site.environment["TEXT"] = faults[0].0
        let piped = try Ran(
            "/bin/sh", "-c", "printf %s \"$TEXT\" | auth-apple store import -", environment: from.site.environment)
        #expect(piped.status == 65 && piped.text.contains("import it again"), "\(piped.text)")
        let ran = try from.site.run("store", "import", "-", input: whole)
        #expect(ran.status == 0 && ran.text.contains("the very same already"), "\(ran.text)")
        #expect(try from.refresh(from.answers[2]).status == 200)
    }

    @Test func anExportIsNotShownOnATerminalNorAUsersTableOfTheOwnersMoved() throws {
        let from = try Site(people: 1)
        let ran = try Ran(
            "/usr/bin/script", "-qec", "auth-apple store export -", "/dev/null", environment: from.site.environment)
        #expect(ran.status == 73 && ran.text.contains("is a terminal"), "\(ran.text)")
        from.site.environment["AUTH_APPLE_ACCOUNT_QUERIES"] = from.site.folder.path()
        for command in ["export", "import"] {
            let ran = try from.site.run("store", command, from.export)
            #expect(ran.status == 78 && ran.text.contains("pg_dump"), "\(ran.text)")
        }
    }

    // MARK: -

    private func start(_ from: Site) throws -> ChildProcess {
        try ChildProcess(
            Programs.built("auth-apple"), ["store", "import", from.export], environment: from.site.environment)
    }

    /// Kills an import after longer and longer times, until it was in the middle; then lets one go on to its end.
    private func importing(_ from: Site, killedOnce table: String, _ body: (Ran) throws -> Void) throws -> Bool {
        let url = from.site.environment["AUTH_APPLE_STORE"] ?? ""
        let schema = url.components(separatedBy: "schema=").last ?? ""
        var wasInTheMiddle = false
        for pause in stride(from: UInt32(30_000), to: 2_000_000, by: 10_000) where !wasInTheMiddle {
            let process = try start(from)
            usleep(pause)
            process.kill(SIGKILL)
            process.wait()
            let count = Int(try PostgreSQLServer.shared.psql("SELECT count(*) FROM \(schema).\(table)")) ?? 0
            wasInTheMiddle = (1..<(Site.people - 1)).contains(count)
            if count == Site.people - 1 { break }
        }
        try body(from.site.run("store", "import", from.export))
        return wasInTheMiddle
    }
}
#endif
