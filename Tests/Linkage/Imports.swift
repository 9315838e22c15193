import Foundation

/// An `import` in a Swift file, or an `#include` in a C file, with the compiler conditions around it.
struct Import: Hashable, CustomStringConvertible {
    /// The module, without what is picked from it; for C the header as written.
    let name: String
    let conditions: [String]
    let place: String

    var description: String { "\(place) imports \(name)" }
}

extension Import {
    /// The imports of a Swift file. Line by line, which is enough for code that the formatter has been over.
    static func all(inSwift text: String, named file: String) -> [Import] {
        var conditions: [String] = []
        var imports: [Import] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#if ") {
                conditions.append(String(line.dropFirst(4)))
            } else if line.hasPrefix("#elseif") || line.hasPrefix("#else"), let condition = conditions.popLast() {
                conditions.append("not \(condition)")
            } else if line.hasPrefix("#endif") {
                _ = conditions.popLast()
            } else if line.contains("import "), let match = line.wholeMatch(of: swiftImport) {
                imports.append(
                    Import(name: String(match.module), conditions: conditions, place: "\(file):\(number + 1)"))
            }
        }
        return imports
    }

    static func all(inC text: String, named file: String) -> [Import] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
            line.wholeMatch(of: /\s*#\s*(?:include|import)\s*[<"](?<header>[^>"]+)[>"].*/).map {
                Import(name: String($0.header), conditions: [], place: "\(file):\(number + 1)")
            }
        }
    }

    private static var swiftImport: Regex<(Substring, module: Substring)> {
        let attributes = "(?:@\\w+(?:\\([^)]*\\))?\\s+)*"
        let access = "(?:(?:public|package|internal|fileprivate|private)\\s+)?"
        let kind = "(?:(?:struct|class|enum|protocol|actor|func|var|let|typealias)\\s+)?"
        let pattern = "\(attributes)\(access)import\\s+\(kind)`?(?<module>\\w+)`?.*"
        // A constant pattern: it compiles or no test of this file runs.
        // swift-format-ignore: NeverUseForceTry
        return try! Regex(pattern, as: (Substring, module: Substring).self)
    }
}

/// The folders of `Sources/`.
struct Room {
    let name: String
    let imports: [Import]

    static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardizedFileURL

    static func all() throws -> [Room] {
        try FileManager.default.contentsOfDirectory(atPath: sources.path()).filter { !$0.hasPrefix(".") }.sorted()
            .map(Room.init)
    }

    init(_ name: String) throws {
        self.name = name
        let folder = Self.sources.appending(path: name)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path()).sorted()
        imports = try paths.flatMap { path -> [Import] in
            let place = "Sources/\(name)/\(path)"
            let text = { try String(contentsOf: folder.appending(path: path), encoding: .utf8) }
            return switch URL(filePath: path).pathExtension {
            case "swift": Import.all(inSwift: try text(), named: place)
            case "c", "h": Import.all(inC: try text(), named: place)
            default: []
            }
        }
    }
}
