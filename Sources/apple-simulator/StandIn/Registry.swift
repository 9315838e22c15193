internal import Glibc
internal import JOSE

/// What developers have registered with this Apple: teams with their keys, and clients with their team and return addresses.
struct Registry {
    static let options: [Options.Option] = [.values("team"), .values("client")]
    /// Whom apps belong to while nobody says otherwise.
    static let unnamedTeam = "SIMULATED1"

    struct Key {
        var team: String
        var keyID: String
        var publicKey: PublicKey
    }

    struct Client {
        var id: String
        /// The owner first. Others may migrate accounts: a team that the app comes from or goes to.
        var teams: [String]
        var redirectURIs: [String]
    }

    private(set) var keys: [Key] = []
    /// Empty when any client is taken.
    private(set) var clients: [Client] = []

    init(_ options: Options) throws(UsageError) {
        for text in options.values("team") { keys.append(try Self.key(text)) }
        for text in options.values("client") { try add(client: text) }
        for team in clients.flatMap(\.teams) where !keys.isEmpty && !keys.contains(where: { $0.team == team }) {
            throw UsageError(reason: "--client names the team \(team), and no --team does")
        }
    }

    /// Every team that is named, the one that apps belong to by default first.
    var teams: [String] {
        var teams: [String] = []
        for team in keys.map(\.team) + clients.flatMap(\.teams) where !teams.contains(team) { teams.append(team) }
        return teams.isEmpty ? [Self.unnamedTeam] : teams
    }

    func client(_ id: String) -> Client? {
        guard clients.isEmpty else { return clients.first { $0.id.isIdentical(to: id) } }
        return Client(id: id, teams: teams, redirectURIs: [])
    }

    private static func key(_ text: String) throws(UsageError) -> Key {
        let parts = text.split(separator: "=", maxSplits: 1)
        let names = parts.first?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, names.count == 2, names.allSatisfy({ !$0.isEmpty }) else {
            throw UsageError(reason: "--team wants TEAMID:KEYID=FILE")
        }
        let path = String(parts[1])
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError(reason: "--team: \(path) cannot be opened (\(System.errorText()))")
        }
        defer { close(descriptor) }
        guard let bytes = Descriptor.readAll(descriptor, limit: 16_384),
            let key = PublicKey.P256(pem: String(decoding: bytes, as: UTF8.self))
        else { throw UsageError(reason: "--team: \(path) holds no P-256 key in PEM with its public half") }
        return Key(team: String(names[0]), keyID: String(names[1]), publicKey: .p256(key))
    }

    private mutating func add(client text: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1)
        let values = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
        guard let team = values.first else {
            throw UsageError(reason: "--client wants CLIENT_ID=TEAMID[,REDIRECT_URI…]")
        }
        let id = String(parts[0])
        for address in values.dropFirst() where !RedirectURI.isAllowed(address) {
            throw UsageError(reason: "--client: \(address) is no return address: \(RedirectURI.rule)")
        }
        if let index = clients.firstIndex(where: { $0.id.isIdentical(to: id) }) {
            clients[index].teams.append(team)
            clients[index].redirectURIs += values.dropFirst()
        } else {
            clients.append(Client(id: id, teams: [team], redirectURIs: Array(values.dropFirst())))
        }
    }
}

extension Registry {
    /// What is not checked, said at the start and on the page.
    func notes(in say: Language) -> [String] {
        var notes: [String] = []
        if keys.isEmpty {
            notes.append(
                say(
                    "Sin --team: se revisan la forma y los datos de client_secret; su firma no se puede.",
                    "No --team: the form and the claims of client secrets are checked, their signatures cannot be."))
        }
        if clients.isEmpty {
            notes.append(
                say(
                    "Sin --client: se acepta cualquier client_id y cualquier redirect_uri.",
                    "No --client: any client_id and any redirect_uri are taken."))
        }
        for client in clients where client.redirectURIs.isEmpty {
            notes.append(
                say(
                    "\(client.id) no tiene redirect_uri registrada: se acepta cualquiera.",
                    "\(client.id) has no redirect_uri registered: any is taken."))
        }
        return notes
    }
}
