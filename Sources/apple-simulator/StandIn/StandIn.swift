internal import JOSE

/// Apple, as far as it is stood in for: what can be asked of it, whoever asks. The endpoints turn requests into these
/// questions.
struct StandIn {
    let cryptography: any Cryptography
    let keys: KeyFile
    let registry: Registry
    let memory: MemoryFile
    /// The life of an authorization code: 300 with Apple.
    let codeSeconds: Int64

    var now: Int64 { System.now().seconds }

    /// The team that the app belongs to now.
    func owner(of client: Registry.Client, in memory: Memory) -> String {
        memory.moves.last { $0.client == client.id }?.target ?? client.teams.first ?? Registry.unnamedTeam
    }

    /// `sub`: the same for all apps of a team, another one for another team, in the form of Apple's.
    func subject(of person: String, for team: String) -> String {
        identifier(["sub", person, team])
    }

    /// The person that a team knows by this `sub`.
    func person(subject: String, of teams: [String], in memory: Memory) -> (person: Person, team: String)? {
        for team in teams {
            if let person = memory.people.first(where: { self.subject(of: $0.id, for: team) == subject }) {
                return (person, team)
            }
        }
        return nil
    }

    /// Six digits, 32 of base 16, four digits.
    func identifier(_ parts: [String]) -> String {
        let digest = cryptography.sha256(Array(parts.joined(separator: "\u{0}").utf8)[...])
        let decimal = { (bytes: ArraySlice<UInt8>) in bytes.map { String($0 % 10) }.joined() }
        return "00\(decimal(digest[16..<20])).\(Hexadecimal.text(digest.prefix(16))).\(decimal(digest[20..<24]))"
    }

    func digest(_ secret: String) -> String {
        Base64URL.encode(cryptography.sha256(Array(secret.utf8)[...]))
    }

    /// 256 bits that nobody guesses, with a letter before them that tells people what it is.
    func newSecret(_ letter: String) throws(CryptographyError) -> String {
        letter + Base64URL.encode(try cryptography.randomBytes(32))
    }

    /// Signed as Apple signs identity tokens and notifications; the keys are read anew, since they may have been rotated.
    func signed(_ claims: JSON.Object) throws -> String {
        let key = try keys.keys().all[0]
        return try TokenDraft(claims: claims, key: key).signed(using: cryptography)
    }
}
