import Foundation
import TestSupport
import Testing

/// Whatever the program can say to its operator stands in `deploy/operating.md`, with what to do.
@Suite struct OperatingWordsTests {
    private let page: OperatingPage
    private let words: Set<String>

    init() throws {
        page = try OperatingPage()
        words = page.words()
    }

    private func expectNamed(_ said: Set<String>, atLeast count: Int, _ what: String) {
        #expect(said.count >= count, "\(what): the source is read no longer: \(said.sorted())")
        #expect(said.subtracting(words).isEmpty, "\(what) without a word in deploy/operating.md")
    }

    @Test func everyFieldOfTheLogIsThere() throws {
        var fields: Set<String> = []
        for path in ["AuthFunction/LogLine.swift", "auth-apple/Report.swift", "auth-apple/Errands.swift"] {
            let source = try ProgramWords(path)
            fields.formUnion(source.matches(of: /"([a-z_]+)": (?:\.|")/).map { String($0.1) })
            fields.formUnion(source.matches(of: #/\["([a-z_]+)"\] = /#).map { String($0.1) })
        }
        expectNamed(fields, atLeast: 17, "field")
    }

    @Test func everyOutcomeIsThere() throws {
        var outcomes: Set<String> = ["ok"]
        let problems = try ProgramWords("AuthFunction/Endpoint/Problem.swift")
        outcomes.formUnion(problems.matches(of: /code: "([a-z_]+)"/).map { String($0.1) })
        outcomes.formUnion(try ProgramWords("Accounts/Web/WebSignIn.swift").rawValues(of: "ReturnError"))
        for source in try ProgramWords.sources(below: "auth-apple") {
            outcomes.formUnion(source.matches(of: /"outcome": (?:\.string\()?"([a-z_]+)"/).map { String($0.1) })
        }
        expectNamed(outcomes, atLeast: 21, "outcome")
    }

    @Test(arguments: [
        ("AppleID/TokenRefusal.swift", "TokenRefusal", 18),
        ("Accounts/SessionFailure.swift", "SessionRefusal", 12),
        ("Accounts/Web/WebSignInFailure.swift", "WebRefusal", 11),
        ("Accounts/AppleNotifications.swift", "Outcome", 9),
        ("AuthFunction/Endpoint/RateLimiter.swift", "Subject", 2),
        ("KeyCache/KeyCacheReport.swift", "Outcome", 4),
        ("CurlHTTP/HTTPError.swift", "Code", 8),
    ])
    func everyReasonIsThere(path: String, name: String, count: Int) throws {
        expectNamed(try ProgramWords(path).rawValues(of: name), atLeast: count, name)
    }

    @Test func everyReasonThatIsSaidInPassingIsThere() throws {
        var reasons = try ProgramWords("AuthFunction/Endpoint/Failure.swift").literals(in: "var logReason: String")
            .filter { $0.contains(/^[a-z_]+$/) }
        for source in try ProgramWords.sources(below: "AuthFunction") {
            reasons.formUnion(source.matches(of: /log\.reason = "([^"]+)"/).map { String($0.1) })
        }
        expectNamed(reasons, atLeast: 4, "reason")
    }

    @Test func everyWordAboutAppleAPIIsThere() throws {
        var said: Set<String> = ["kept", "revoked"]
        for path in [
            "AppleID/AppleServerFailure.swift", "AppleID/AppleTokens.swift", "Accounts/AppleCodeExchange.swift",
            "Accounts/AppleRevocations.swift",
        ] {
            said.formUnion(try ProgramWords(path).literals(in: "var word: String"))
        }
        #expect(
            said.remove(#"apple_\(code.rawValue)"#) != nil && said.remove(#"code_id_token_\(refusal.rawValue)"#) != nil)
        let codes = try ProgramWords("AppleID/AppleServerFailure.swift").rawValues(of: "AppleErrorCode")
        said.formUnion(codes.map { "apple_\($0)" })
        said.insert("code_id_token_WORD")
        expectNamed(said, atLeast: 20, "reason of an errand")
    }

    /// By what is constant in them.
    @Test func everyNoteOfTheKeyCacheIsThere() throws {
        var notes: Set<String> = []
        for (path, declaration) in [
            ("KeyCacheReport", "var description: String"), ("KeyFileFault", "var description: String"),
            ("KeyFetch", "var description: String"), ("KeyCache", "func unavailability("),
        ] {
            notes.formUnion(try ProgramWords("KeyCache/\(path).swift").literals(in: declaration))
        }
        notes.formUnion(try ProgramWords("KeyCache/KeyFileFault.swift").rawValues(of: "Place"))
        #expect(notes.count >= 20)
        for note in notes {
            for part in note.split(separator: /\\\([^()]*(?:\([^()]*\))?[^()]*\)|: not used|[():;]/) {
                let words = part.trimmingCharacters(in: .whitespaces)
                #expect(words.count < 4 || page.text.contains(words), "\(note)")
            }
        }
    }

    @Test func every5xxHasItsOwnHeading() throws {
        let problems = try ProgramWords("AuthFunction/Endpoint/Problem.swift")
        let answers = problems.matches(of: /status: (5\d\d), code: "([a-z_]+)"/)
        #expect(answers.count >= 3)
        for (_, status, code) in answers { _ = try page.section("\(status) `\(code)`") }
    }

    /// Each text of a store's has one of the words by which the page tells them apart.
    @Test func everyReasonOfAStoreIsToldApart() throws {
        let rows = try page.firstColumn("503 `store_unavailable`").subtracting(["reason"])
        let stores = try ProgramWords.sources(below: "UserStores").flatMap { source in
            source.matches(of: /\.(?:unavailable|unusable)\(\s*(?:reason: )?"([^"\n]+(?:\\\([^)]*\))?[^"\n]*)"/).map {
                String($0.1)
            }
        }
        let states = try ProgramWords("UserStores/PostgreSQL/PostgreSQLFailure.swift")
            .literals(in: "func explanation(_ state: String)").filter { $0.contains(" ") }
        #expect(stores.count >= 40 && states.count >= 10)
        // What is only a frame for another text has no words of its own.
        let withWords = (stores + states).filter {
            $0.replacing(/\\\([^)]*\)+/, with: "").contains(/[a-z]{2,} [a-z]{2,}/)
        }
        for reason in withWords {
            let isTold = rows.contains { row in row.split(separator: "…").allSatisfy { reason.contains($0) } }
            #expect(isTold, "\(reason)")
        }
        let codes = try ProgramWords("UserStores/SQLite/SQLiteFailure.swift").matches(of: /\bSQLITE_[A-Z]+\b/)
            .map { String($0) }
        for code in Set(codes).subtracting(["SQLITE_OK"]) { #expect(rows.contains(code), "\(code)") }
    }

    @Test func everyExitStatusIsThere() throws {
        let statuses = try ProgramWords("auth-apple/Program.swift").matches(of: /static let \w+: Int32 = (\d+)/)
        #expect(statuses.count >= 9)
        let rows = try page.section("429, and exit statuses").split(separator: "\n").filter { $0.hasPrefix("|") }
        let named = Set(rows.flatMap { ($0.split(separator: "|").first ?? "").matches(of: /\d+/).map { String($0.0) } })
        #expect(named == Set(statuses.map { String($0.1) }))
    }

    @Test func everyMetricIsMadeAndWatched() throws {
        let file = Programs.packageRoot.appending(path: "deploy/mtail/auth-apple.mtail")
        let program = try String(contentsOf: file, encoding: .utf8)
        let made = Set(program.matches(of: /(?m)^(?:counter|histogram) auth_apple_(\w+)/).map { String($0.1) })
        #expect(made.count >= 11)
        let watched = try page.section("Alerts").matches(of: /auth_apple_(\w+?)(?:_bucket)?[\[{]/).map { String($0.1) }
        #expect(Set(watched).isSubset(of: made))
        let listed = try page.section("Fields, and the metrics of them")
        for metric in made { #expect(listed.contains("`\(metric)"), "\(metric)") }
    }
}
