import Foundation
import TestSupport
import Testing

/// The words that the program can say to its operator, read from its source: what is added there is seen here.
struct ProgramWords {
    private let text: String

    init(_ path: String) throws {
        text = try String(contentsOf: Programs.packageRoot.appending(path: "Sources/\(path)"), encoding: .utf8)
    }

    /// From a declaration to the brace that ends it.
    private func body(of declaration: String) throws -> Substring {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.contains(declaration) }, "no \(declaration)")
        let end = try #require(
            lines[start...].firstIndex { $0 == lines[start].prefix { $0 == " " } + "}" }, "\(declaration)")
        return text[lines[start].startIndex..<lines[end].startIndex]
    }

    /// The raw values of an enumeration of texts.
    func rawValues(of name: String) throws -> Set<String> {
        let cases = try body(of: "enum \(name):").matches(of: /case (\w+)(?: = "([^"]+)")?\n/)
        try #require(!cases.isEmpty, "no cases of \(name)")
        return Set(cases.map { String($0.2 ?? $0.1) })
    }

    /// The texts within a declaration, up to where a value is put in.
    func literals(in declaration: String) throws -> Set<String> {
        let texts = try body(of: declaration).matches(of: /"((?:[^"\\\n]|\\\((?:[^()]|\([^()]*\))*\)|\\")*)"/).map {
            String($0.1)
        }
        try #require(!texts.isEmpty, "no words in \(declaration)")
        return Set(texts)
    }

    func matches<Output>(of pattern: some RegexComponent<Output>) -> [Output] {
        text.matches(of: pattern).map(\.output)
    }

    /// The source files below a folder.
    static func sources(below folder: String) throws -> [ProgramWords] {
        let root = Programs.packageRoot.appending(path: "Sources/\(folder)").path()
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".swift") }.map { try ProgramWords("\(folder)/\($0)") }
    }
}
