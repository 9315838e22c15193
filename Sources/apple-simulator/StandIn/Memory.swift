internal import JOSE

/// What this Apple remembers: its people, whom they have let in, what it has issued, and which apps have moved.
struct Memory: Hashable {
    static let maximumPeople = 500
    static let maximumGrants = 5000

    var people = Person.known
    var consents: [Consent] = []
    var grants: [Grant] = []
    var transfers: [Transfer] = []
    var moves: [Move] = []

    func person(_ id: String) -> Person? { people.first { $0.id == id } }

    func consent(of person: String, to client: String) -> Consent? {
        consents.first { $0.person == person && $0.client == client }
    }

    /// The issued thing with that digest; digests are compared, so the time it takes tells nothing of the secret.
    func grant(_ kinds: [Grant.Kind], digest: String) -> Grant? {
        grants.first { $0.digest == digest && kinds.contains($0.kind) }
    }

    /// Adds it, and forgets what has expired; past the cap the oldest go.
    mutating func issue(_ grant: Grant, at now: Int64) {
        grants.removeAll { $0.isExpired(at: now) }
        if grants.count >= Self.maximumGrants { grants.removeFirst() }
        grants.append(grant)
    }

    /// The person no longer lets the app in: its tokens die, and the next sign-in is a first one again.
    mutating func withdraw(person: String, client: String) {
        consents.removeAll { $0.person == person && $0.client == client }
        grants.removeAll { $0.person == person && $0.client == client }
    }

    /// The account is gone, with everything that hung on it.
    mutating func delete(person: String) {
        people.removeAll { $0.id == person }
        consents.removeAll { $0.person == person }
        grants.removeAll { $0.person == person }
        transfers.removeAll { $0.person == person }
    }
}

extension Memory {
    init?(_ json: JSON) {
        guard let people = Self.all("people", of: json, Person.init),
            let consents = Self.all("consents", of: json, Consent.init),
            let grants = Self.all("grants", of: json, Grant.init),
            let transfers = Self.all("transfers", of: json, Transfer.init),
            let moves = Self.all("moves", of: json, Move.init)
        else { return nil }
        self.init(people: people, consents: consents, grants: grants, transfers: transfers, moves: moves)
    }

    var json: JSON {
        [
            "people": .array(people.map(\.json)), "consents": .array(consents.map(\.json)),
            "grants": .array(grants.map(\.json)), "transfers": .array(transfers.map(\.json)),
            "moves": .array(moves.map(\.json)),
        ]
    }

    /// All of a list, or nil when there is no list or something else in it.
    private static func all<Element>(_ name: String, of json: JSON, _ read: (JSON) -> Element?) -> [Element]? {
        guard let members = json[name]?.array else { return nil }
        let elements = members.compactMap(read)
        return elements.count == members.count ? elements : nil
    }
}
