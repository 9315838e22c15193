internal import JOSE

/// The process environment, read once, and the only way in which configuration comes in.
package struct Environment {
    package static let prefix = "AUTH_APPLE_"

    /// Names are compared by their bytes, a hundred of them whenever a process starts.
    private struct Variable {
        let name: [UInt8]
        let value: String
    }

    private let variables: [Variable]
    private let readFile: FileReader
    private var asked: [[UInt8]] = []
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
            let name = Array(entry[..<equals])
            let isOurs = name.starts(with: Self.prefix.utf8)
            guard let value = String(validating: entry[(equals + 1)...], as: UTF8.self),
                let text = String(validating: name, as: UTF8.self)
            else {
                if isOurs {
                    let name = String(decoding: name, as: UTF8.self)
                    problems.append(ConfigurationProblem(name, "is not UTF-8 text", remedy: "set it to text"))
                }
                continue
            }
            if isOurs, variables.contains(where: { $0.name == name }) {
                problems.append(
                    ConfigurationProblem(text, "is set twice", remedy: "set it once in the environment of the process"))
                continue
            }
            variables.append(Variable(name: name, value: value))
        }
        self.variables = variables
        self.readFile = readFile
    }

    /// A variable that is not ours, such as HOME.
    package func foreign(_ name: String) -> String? {
        value(of: Array(name.utf8))
    }

    private func value(of name: [UInt8]) -> String? {
        variables.last { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The names of a variable of ours and of the one that names its file.
    private static func names(of name: String) -> (direct: [UInt8], file: [UInt8]) {
        let direct = Array(prefix.utf8) + Array(name.utf8)
        return (direct, direct + Array("_FILE".utf8))
    }

    /// The value of `AUTH_APPLE_name`, or the content of the file that `AUTH_APPLE_name_FILE` names, without the line feed at
    /// its end. An empty variable is unset; an empty file is one that could not be written, and a problem.
    package mutating func value(_ name: String, isSecret: Bool = false) -> String? {
        let names = Self.names(of: name)
        asked += [names.direct, names.file]
        let direct = value(of: names.direct)
        guard let path = value(of: names.file) else { return direct }
        guard direct == nil else {
            report(name, "is set as well as \(Self.prefix + name)_FILE", remedy: "unset one of the two")
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
        let names = Self.names(of: name)
        asked += [names.direct, names.file]
        return value(of: names.direct) != nil || value(of: names.file) != nil
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
        let unknown = variables.map(\.name).filter { $0.starts(with: Self.prefix.utf8) && !asked.contains($0) }
        for name in unknown.map({ String(decoding: $0, as: UTF8.self) }).sorted() {
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
