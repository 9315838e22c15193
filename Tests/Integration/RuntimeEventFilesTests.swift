import Foundation
import JOSE
import Testing

/// The samples of `events/runtimes`, each by pipe, in the order of their numbers and in one store: what is shown to people is
/// what the machine does.
@Suite struct RuntimeEventFilesTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../events").standardizedFileURL

    @Test func everySampleGetsItsResponse() throws {
        let trial = try TrialFunction()
        let products = TrialFunction.executable.deletingLastPathComponent().path
        trial.environment["PATH"] = "\(products):/usr/bin:/bin"
        trial.environment["APPLE_SIMULATOR_KEYS"] = trial.folder.appending(path: "apple-private-keys.json").path
        trial.environment["APPLE_SIMULATOR_AUDIENCE"] = trial.environment["AUTH_APPLE_AUDIENCES"]
        let keys = try shell("exec apple-simulator keys", trial)
        try Data(keys.utf8).write(to: trial.folder.appending(path: "apple-keys.json"))

        let runtimes = Self.folder.appending(path: "runtimes")
        let names = try FileManager.default.contentsOfDirectory(atPath: runtimes.path)
            .filter { $0.hasSuffix(".event.json") }.sorted()
        #expect(names.count >= 12)
        var placeholders = Placeholders()
        for name in names {
            let event = try shell("exec '\(Self.folder.path)/fill.sh' '\(runtimes.path)/\(name)'", trial)
            let response = try trial.run(input: event)
            let expected = runtimes.appending(path: name.replacing(".event.", with: ".expected."))
            let difference = placeholders.difference(
                try JSON(text: String(response.output.dropLast())),
                from: try JSON(text: String(contentsOf: expected, encoding: .utf8).trimmingCharacters(in: .newlines)))
            #expect(difference == nil, "\(name)")
        }
    }

    private func shell(_ command: String, _ trial: TrialFunction) throws -> String {
        let running = try RunningFunction(
            URL(fileURLWithPath: "/bin/sh"), ["-c", command], trial.environment,
            logFile: trial.folder.appending(path: "shell-log"))
        try running.input.close()
        let output = String(decoding: running.output.readDataToEndOfFile(), as: UTF8.self)
        try #require(running.end() == 0, "\(running.log)")
        return output
    }
}

/// `{{…}}` in an expected response, by its form; a name makes it the same wherever it is used.
private struct Placeholders {
    private var named: [String: String] = [:]

    /// Where the two differ, or nil. An expected body is written as JSON and may be a string on the wire.
    mutating func difference(_ actual: JSON, from expected: JSON, at path: String = "") -> String? {
        switch (expected, actual) {
        case (.object(let wanted), .object(let got)):
            guard Set(wanted.members.map(\.name)) == Set(got.members.map(\.name)) else {
                return "\(path): has \(got.members.map(\.name)) and not \(wanted.members.map(\.name))"
            }
            for member in wanted.members {
                let found = got[member.name].flatMap {
                    difference($0, from: member.value, at: "\(path)/\(member.name)")
                }
                if let found { return found }
            }
            return nil
        case (.array(let wanted), .array(let got)) where wanted.count == got.count:
            for (index, pair) in zip(got, wanted).enumerated() {
                if let found = difference(pair.0, from: pair.1, at: "\(path)/\(index)") { return found }
            }
            return nil
        case (.object, .string(let text)) where path == "/body":
            guard let json = try? JSON(text: text) else { return "\(path): is not JSON" }
            return difference(json, from: expected, at: path)
        case (.string(let form), .string(let text)) where form.hasPrefix("{{") && form.hasSuffix("}}"):
            return hasForm(text, String(form.dropFirst(2).dropLast(2))) ? nil : "\(path): \(text) is no \(form)"
        default:
            return expected == actual ? nil : "\(path): \(actual) and not \(expected)"
        }
    }

    private mutating func hasForm(_ text: String, _ form: String) -> Bool {
        let isOfForm =
            switch form.split(separator: " ").first {
            case "jwt": text.wholeMatch(of: /[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/) != nil
            case "uuid":
                text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
            case "refresh": text.wholeMatch(of: /[A-Za-z0-9_.-]{43,}/) != nil
            default: false
            }
        guard isOfForm, form.hasPrefix("uuid ") else { return isOfForm }
        defer { named[form] = text }
        return (named[form] ?? text) == text
    }
}
