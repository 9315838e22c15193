import Foundation
import Testing

/// What no compiler on this system can say of the Apple-only files: they are read as text. `Tests/AppleTypecheck` has the rest.
@Suite struct AppleSourceTests {
    @Test func everyCompletionClosureIsSendableEveryStartIsAskedAndEveryHTTPSCallbackIsGuarded() throws {
        let files = try Self.swiftFiles("Sources/Xid/Apple")
        #expect(files.count == 5)
        for (name, text) in files {
            let findings = Self.findings(in: text)
            #expect(findings.isEmpty, "\(name): \(findings)")
        }
        let agent = try #require(files["AuthenticationSessionAgent.swift"])
        #expect(agent.contains("callback: .https(") && agent.contains(".start()"))
    }

    /// The check itself: each of these is a way in which apps were shipped, and crashed or hung.
    @Test(arguments: [
        (
            "callback",
            "let s = ASWebAuthenticationSession(url: u, callback: .https(host: h, path: p), completionHandler: done)"
        ),
        (
            "callback",
            """
            if #available(iOS 17.4, macOS 14.4, *) { print("new") }
            let s = ASWebAuthenticationSession(
                url: u, callback: .customScheme("a"), completionHandler: done)
            """
        ),
        (
            "callback",
            """
            if #available(iOS 16, macOS 13, *) {
                return ASWebAuthenticationSession(url: u, callback: .https(host: h, path: p), completionHandler: done)
            }
            """
        ),
        ("completion", "ASWebAuthenticationSession(url: u, callbackURLScheme: s) { url, error in done() }"),
        (
            "completion",
            "ASWebAuthenticationSession(url: u, callbackURLScheme: s, completionHandler: { _, _ in done() })"
        ),
        ("completion", "let c: (URL?, (any Error)?) -> Void = { _, _ in }\nf(u, completionHandler: c)"),
        ("start", "session.start()"), ("start", "    _ = session.start()"), ("start", "self.session?.start()"),
        ("#if os", "#if os(iOS)"), ("@objc", "@objc func f() {}"),
    ])
    func theCheckFinds(rule: String, text: String) {
        let sound = "let done: @Sendable (URL?, (any Error)?) -> Void = { _, _ in }"
        #expect(Self.findings(in: "\(Self.condition)\n\(sound)\n\(text)\n#endif\n") == [rule])
    }

    @Test func theCheckWantsTheCondition() {
        #expect(Self.findings(in: "import Foundation\n") == ["condition"])
        #expect(Self.findings(in: "\(Self.condition)\n#endif\nlet outside = 1\n") == ["condition"])
    }

    /// iOS 16 and macOS 13 lack these, and a compiler for Linux has nothing against them. `Span` is not among them: by the standard
    /// library's interface it and the one of an `ArraySlice` are as old as iOS 12.2; the one of an `Array` is not.
    @Test func whatIsSharedWithAppleIsNotYoungerThanTheOldestSystem() throws {
        let young = [
            "String(validating", "import Synchronization", "Mutex<", "Mutex(", "Atomic<", ".span",
            "InlineArray",
            "UTF8Span", "isolated deinit", "import Observation", "Int128",
        ]
        let files = try Self.swiftFiles("Sources/JOSE").merging(Self.swiftFiles("Sources/Xid")) { $1 }
        #expect(files.count > 50)
        for (name, text) in files where !text.hasPrefix("#if os(Linux)") {
            for word in young { #expect(!text.contains(word), "\(name): \(word)") }
        }
    }

    private static let condition = "#if canImport(AuthenticationServices)"

    /// The rules that a file of Apple-only code breaks.
    private static func findings(in text: String) -> [String] {
        var findings: [String] = []
        let code = text.split(separator: "\n")
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        // Nothing stands outside the condition: its depth is never zero before the last line.
        let lines = code.split(separator: "\n")
        var depth = 0
        let isCovered = lines.dropLast().allSatisfy { line in
            depth += line.drop { $0 == " " }.hasPrefix("#if") ? 1 : line.drop { $0 == " " }.hasPrefix("#endif") ? -1 : 0
            return depth > 0
        }
        if !isCovered || lines.first != Self.condition[...] || lines.last != "#endif" { findings.append("condition") }
        if code.contains("#if os(") { findings.append("#if os") }
        if code.contains("@objc") { findings.append("@objc") }

        let guarded = blocks(after: "if #available(iOS 17.4, macOS 14.4, *) {", in: code)
        for call in code.ranges(of: /ASWebAuthenticationSession\(\s*url: \w+, callback:/)
        where !guarded.contains(where: { $0.contains(call.lowerBound) }) {
            findings.append("callback")
        }
        let sendable = Set(code.matches(of: /let (\w+): @Sendable \(/).map { String($0.1) })
        let handlers = code.matches(of: /completionHandler: (\w+|\{ @Sendable|\{)/).map { String($0.1) }
        let trailing = code.matches(of: /ASWebAuthenticationSession\([^()]*\) \{/)
        if !trailing.isEmpty || handlers.contains(where: { $0 != "{ @Sendable" && !sendable.contains($0) }) {
            findings.append("completion")
        }
        if code.contains(/(?m)^\s*(_ = )?[\w.?!]+\.start\(\)\s*$/) { findings.append("start") }
        return findings
    }

    /// What stands between the braces that this text opens.
    private static func blocks(after opening: String, in code: String) -> [Range<String.Index>] {
        code.ranges(of: opening).map { range in
            var depth = 1
            let end = code[range.upperBound...].indices.first { index in
                if code[index] == "{" { depth += 1 }
                if code[index] == "}" { depth -= 1 }
                return depth == 0
            }
            return range.upperBound..<(end ?? range.upperBound)
        }
    }

    private static func swiftFiles(_ folder: String) throws -> [String: String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return try Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasSuffix(".swift") }.map { name in
                (name, try String(contentsOf: root.appending(path: "\(folder)/\(name)"), encoding: .utf8))
            })
    }
}
