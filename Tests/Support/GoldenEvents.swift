import Foundation

/// The cases of `events/`: an event, and the response that it must get.
package struct GoldenEvent: Sendable, CustomStringConvertible {
    package let name: String
    package let event: URL
    package let expected: URL

    package var description: String { name }

    /// In the order of their numbers, which is the order in which they are to be sent.
    package static func all(in folder: String = "events") throws -> [GoldenEvent] {
        let folder = Programs.packageRoot.appending(path: folder)
        let suffix = ".event.json"
        return try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
            .filter { $0.hasSuffix(suffix) }.map { file in
                let name = String(file.dropLast(suffix.count))
                return GoldenEvent(
                    name: name, event: folder.appending(path: file),
                    expected: folder.appending(path: "\(name).expected.json"))
            }
    }

    /// The event with its tokens filled in, by the same script that a person uses.
    package func filled(in environment: [String: String]) throws -> Data {
        let script = Programs.packageRoot.appending(path: "events/fill.sh").path()
        let ran = try Ran(script, event.path(), environment: environment)
        guard ran.status == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return ran.output
    }
}

/// Compares responses with expected ones, whose `{{…}}` stand for what differs from run to run.
package struct GoldenComparison {
    /// What a named placeholder, such as `{{uuid ana}}`, stood for first.
    private var names: [String: String] = [:]

    package init() {}

    private static let forms: [String: String] = [
        "jwt": "eyJ[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]{86}", "refresh token": "[A-Za-z0-9_-]{64,}",
        "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "base64url": "[A-Za-z0-9_-]{43}",
        "apple's page":
            "https://appleid[.]apple[.]com/auth/authorize[?]client_id=com[.]example[.]web&"
            + "redirect_uri=https%3A%2F%2Fauth[.]example[.]com%2Fauth%2Fapple%2Fcallback&response_type=code%20id_token&"
            + "response_mode=form_post&scope=name%20email&nonce=[A-Za-z0-9_-]{22}&state=[A-Za-z0-9_.-]{400,1000}",
        "browser cookie": "__Host-auth-apple=[A-Za-z0-9_-]{43}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=None",
        "relay address": "[a-z0-9]+@privaterelay[.]appleid[.]com",
        "time": "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z",
    ]

    /// The paths at which the two differ, with what was expected there. No value of the response is repeated.
    package mutating func differences(_ actual: Any?, _ expected: Any?, at path: String = "$") -> [String] {
        switch (actual, expected) {
        case (let actual as [String: Any], let expected as [String: Any]):
            return Set(actual.keys).union(expected.keys).sorted().flatMap { name in
                differences(actual[name], expected[name], at: "\(path).\(name)")
            }
        case (let actual as [Any], let expected as [Any]):
            guard actual.count == expected.count else { return ["\(path): \(expected.count) elements expected"] }
            return zip(actual, expected).enumerated().flatMap { index, pair in
                differences(pair.0, pair.1, at: "\(path)[\(index)]")
            }
        case (let actual as String, let expected as String):
            return matches(actual, expected) ? [] : ["\(path): expected \(expected)"]
        case (let actual as NSObject, let expected as NSObject):
            return actual == expected ? [] : ["\(path): expected \(expected)"]
        default:
            return ["\(path): \(expected == nil ? "nothing" : "something") expected"]
        }
    }

    private mutating func matches(_ actual: String, _ expected: String) -> Bool {
        guard expected.hasPrefix("{{"), expected.hasSuffix("}}") else { return actual == expected }
        let words = String(expected.dropFirst(2).dropLast(2))
        if let form = Self.forms[words] { return actual.range(of: "^\(form)$", options: .regularExpression) != nil }
        guard let form = Self.forms[String(words.prefix { $0 != " " })],
            actual.range(of: "^\(form)$", options: .regularExpression) != nil
        else { return false }
        defer { names[words] = names[words] ?? actual }
        return names[words] == nil || names[words] == actual
    }
}
