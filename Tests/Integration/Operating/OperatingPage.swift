import Foundation
import TestSupport
import Testing

/// `deploy/operating.md`: its words and its commands, so that what is tested is what stands there.
struct OperatingPage {
    let text: String

    init() throws {
        let file = Programs.packageRoot.appending(path: "deploy/operating.md")
        // A bar within a cell of a table is written with a backslash.
        text = try String(contentsOf: file, encoding: .utf8).replacing(#"\|"#, with: "|")
    }

    /// What is between a heading and the next, of whatever level below the title; commands have comments that look like one.
    func section(_ heading: String) throws -> String {
        let parts = text.split(separator: #/\n##+ /#)
        return String(try #require(parts.first { $0.hasPrefix(heading + "\n") }, "no heading \(heading)"))
    }

    /// The commands under a heading that can be run anywhere.
    func commands(_ heading: String) throws -> [String] {
        let commands = try section(heading).matches(of: /```sh\n((?s:.*?))```/).map { String($0.1) }
        try #require(!commands.isEmpty)
        return commands
    }

    /// Everything that is set as code.
    func words(in text: String? = nil) -> Set<String> {
        // A fence is no word's border.
        let prose = (text ?? self.text).replacing(/```(?s:.*?)```/, with: "")
        return Set(prose.matches(of: /`([^`\n]+)`/).map { String($0.1) })
    }

    /// The words of the first column of the tables in a section.
    func firstColumn(_ heading: String) throws -> Set<String> {
        let rows = try section(heading).split(separator: "\n").filter { $0.hasPrefix("|") }
        return words(in: rows.map { $0.split(separator: /\s\|\s/).first ?? "" }.joined(separator: "\n"))
    }

    /// Runs commands of the page in a shell that ends at the first failure. What the page calls by Debian's places lies in the
    /// folders that are given.
    static func run(
        _ commands: [String], in places: [String: String] = [:], environment: [String: String]
    ) throws -> Ran {
        var script = commands.joined(separator: "\n")
        for (place, folder) in places {
            try #require(script.contains(place), "\(place) is not in the commands")
            script.replace(place, with: folder)
        }
        return try Ran("/bin/sh", "-euc", script, environment: environment)
    }
}
