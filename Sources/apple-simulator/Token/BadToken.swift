internal import JOSE

/// One way in which a token is bad, and good in every other: what it is refused for is this and nothing else.
///
/// The kinds are grouped in files by what they spoil; a new one is an entry there.
struct BadToken {
    /// What a kind may need besides the good token.
    struct Setting {
        let keys: SimulatedKeys
        let now: Int64
        let cryptography: any Cryptography

        /// A key that is not in the set.
        func strangeKey(_ algorithm: SignatureAlgorithm = .rs256) throws(CryptographyError) -> SigningKey {
            SigningKey(keyID: "strange", privateKey: try cryptography.generateKey(for: algorithm))
        }
    }

    let name: String
    /// The reason in the log of `auth-apple`.
    let reason: String
    let summary: String
    let spoil: (inout TokenDraft, Setting) throws -> Void

    init(
        _ name: String, _ reason: String, _ summary: String,
        spoil: @escaping (inout TokenDraft, Setting) throws -> Void
    ) {
        self.name = name
        self.reason = reason
        self.summary = summary
        self.spoil = spoil
    }

    static var all: [BadToken] { claims + header + signature + form }

    /// A line each: name, reason, what is wrong.
    static func list(_ kinds: [BadToken]) -> String {
        let width = kinds.map(\.name.count).max() ?? 0
        let reasonWidth = kinds.map(\.reason.count).max() ?? 0
        return kinds.map { kind in
            let name = kind.name + String(repeating: " ", count: width - kind.name.count)
            let reason = kind.reason + String(repeating: " ", count: reasonWidth - kind.reason.count)
            return "\(name)  \(reason)  \(kind.summary)"
        }.joined(separator: "\n")
    }
}
