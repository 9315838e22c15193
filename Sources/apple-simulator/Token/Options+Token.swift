internal import JOSE

/// What the commands that print tokens have in common.
extension Options {
    var audience: String {
        value("audience") ?? System.environment("APPLE_SIMULATOR_AUDIENCE") ?? "com.example.app"
    }

    func bad(among kinds: [BadToken]) throws(UsageError) -> BadToken? {
        guard let name = value("bad") else { return nil }
        guard let bad = kinds.first(where: { $0.name == name }) else {
            throw UsageError(reason: "there is no bad kind \(name); --bad list lists them")
        }
        return bad
    }

    /// A JSON text, or else the text as a string.
    static func json(_ text: String) -> JSON {
        (try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 4096, depth: 8))) ?? .string(text)
    }
}
