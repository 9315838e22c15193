internal import JOSE

/// The process environment, read once, and the only way in which configuration comes in.
package struct Environment {
    package static let prefix = "AUTH_APPLE_"

    private struct Variable {
        let name: String
        let value: String
    }

    private let variables: [Variable]
    private let readFile: FileReader
    private var asked: [String] = []
    package private(set) var problems: [ConfigurationProblem] = []

    /// Reads a file whole. `isSecret` asks for one that only its owner can read. The error is the reason, in words.
    package typealias FileReader = (_ path: String, _ isSecret: Bool) -> Result<[UInt8], FileProblem>

    package struct FileProblem: Error {
        package var reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    /// Nothing of ours is passed over, whatever its bytes: a rule that is set and not read would be off without a word. An
    /// entry that is not UTF-8 is a problem, and so is a name that comes twice, since one reader would take the first and
    /// another the last.
    ///
    /// - Parameter entries: `NAME=value` as the system holds them. They are taken apart by their bytes: to Swift an equals sign
    ///   with an accent on it is another character.
    package init(entries: [[UInt8]], readFile: @escaping FileReader) {
        var variables: [Variable] = []
        for entry in entries {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: entry[..<equals], as: UTF8.self)
            guard let value = String(validating: entry[(equals + 1)...], as: UTF8.self),
                name.utf8.elementsEqual(entry[..<equals])
            else {
                if Self.isOurs(name) {
                    problems.append(ConfigurationProblem(name, "is not UTF-8 text", remedy: "set it to text"))
                }
                continue
            }
            if Self.isOurs(name), variables.contains(where: { $0.name.isIdentical(to: name) }) {
                problems.append(
                    ConfigurationProblem(name, "is set twice", remedy: "set it once in the environment of the process"))
                continue
            }
            variables.append(Variable(name: name, value: value))
        }
        self.variables = variables
        self.readFile = readFile
    }

    private static func isOurs(_ name: String) -> Bool {
        name.utf8.starts(with: prefix.utf8)
    }

    /// A variable that is not ours, such as HOME.
    package func foreign(_ name: String) -> String? {
        variables.last { $0.name.isIdentical(to: name) }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The value of `AUTH_APPLE_name`, or the content of the file that `AUTH_APPLE_name_FILE` names, without the line feed at
    /// its end. An empty variable is unset; an empty file is one that could not be written, and a problem.
    package mutating func value(_ name: String, isSecret: Bool = false) -> String? {
        let variable = Self.prefix + name
        let fileVariable = variable + "_FILE"
        asked += [variable, fileVariable]
        let direct = foreign(variable)
        guard let path = foreign(fileVariable) else { return direct }
        guard direct == nil else {
            report(name, "is set as well as \(fileVariable)", remedy: "unset one of the two")
            return nil
        }
        switch readFile(path, isSecret) {
        case .success(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                report(name + "_FILE", "names a file that is not UTF-8 text", remedy: "write the value to it as text")
                return nil
            }
            var end = Substring(text)
            while let last = end.utf8.last, last == 0x0A || last == 0x0D { end = end.dropLast() }
            guard !end.isEmpty else {
                report(
                    name + "_FILE", "names a file that is empty", remedy: "write the value to it, or unset the variable"
                )
                return nil
            }
            return String(end)
        case .failure(let problem):
            report(
                name + "_FILE", "names a file that \(problem.reason)",
                remedy: isSecret
                    ? "let the variable name a file that this user owns, with mode 0600"
                        + (name == "SIGNING_KEYS" ? " (auth-apple keys new makes one)" : "")
                    : "let the variable name a file that this user can read")
            return nil
        }
    }

    /// Whether the variable or its file is named at all.
    mutating func isSet(_ name: String) -> Bool {
        let variables = [Self.prefix + name, Self.prefix + name + "_FILE"]
        asked += variables
        return variables.contains { foreign($0) != nil }
    }

    /// The path that `AUTH_APPLE_name_FILE` holds.
    package mutating func path(_ name: String) -> String? {
        foreign(Self.prefix + name + "_FILE")
    }

    package mutating func report(_ name: String, _ problem: String, remedy: String) {
        problems.append(ConfigurationProblem(Self.prefix + name, problem, remedy: remedy))
    }

    /// Says that a variable is not set, unless it is and could not be read: that problem is noted already.
    package mutating func reportUnset(_ name: String, remedy: String) {
        reportOnce(name, "is not set", remedy: remedy)
    }

    /// Notes a problem, unless one of this variable or its file is noted already: what follows from it says nothing new.
    package mutating func reportOnce(_ name: String, _ problem: String, remedy: String) {
        let variables = [Self.prefix + name, Self.prefix + name + "_FILE"]
        guard !problems.contains(where: { variables.contains($0.variable) }) else { return }
        report(name, problem, remedy: remedy)
    }

    /// A folder that the system names. A relative one would depend on where the program was started (XDG Base Directory
    /// Specification: it is to be ignored).
    package func folder(_ name: String) -> String? {
        foreign(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Variables of ours that nothing asked for. A misspelt one would leave a rule off without a word, so it is refused.
    package mutating func reportUnknown() {
        let unknown = variables.map(\.name).filter { name in
            Self.isOurs(name) && !asked.contains { $0.isIdentical(to: name) }
        }
        for name in unknown.sorted() {
            problems.append(
                ConfigurationProblem(name, "is no variable of auth-apple", remedy: "correct its name, or unset it"))
        }
    }
}

/// What is wrong with the configuration: where, what, and how to mend it. Holds no value of a variable.
package struct ConfigurationProblem: Hashable, Error, Sendable {
    package var variable: String
    package var problem: String
    package var remedy: String

    package init(_ variable: String, _ problem: String, remedy: String) {
        self.variable = variable
        self.problem = problem
        self.remedy = remedy
    }

    package var line: String { "\(variable) \(problem): \(remedy)" }
}
