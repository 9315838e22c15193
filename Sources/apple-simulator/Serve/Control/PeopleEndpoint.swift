internal import JOSE

/// `/simulator/people`: who has an account, and whom they have let in. POST invents a person.
struct PeopleEndpoint: PromptEndpoint {
    let path = "/simulator/people"
    let methods = ["GET", "POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        if request.method == "POST" {
            let body = try request.controlBody(members: Self.members)
            let person = try standIn.memory.use { try standIn.invent(body, in: &$0) }
            return .json(200, person.json)
        }
        let people = try standIn.memory.use { memory in memory.people.map { json($0, in: memory) } }
        return .json(200, ["people": .array(people)])
    }

    static let members = ["first_name", "last_name", "email"]

    private func json(_ person: Person, in memory: Memory) -> JSON {
        guard var object = person.json.object else { return .null }
        let apps = memory.consents.filter { $0.person == person.id }.compactMap { consent -> JSON? in
            guard let client = standIn.registry.client(consent.client) else { return nil }
            let team = standIn.owner(of: client, in: memory)
            return [
                "client_id": .string(consent.client), "team": .string(team),
                "sub": .string(standIn.subject(of: person.id, for: team)),
                "email": .string(orNull: standIn.address(of: person, consent: consent, team: team)),
                "is_private_email": .bool(consent.hidesEmail), "forwarding": .bool(consent.isForwarding),
            ]
        }
        object["apps"] = .array(apps)
        object["subs"] = .object(
            standIn.registry.teams.reduce(into: JSON.Object()) {
                $0[$1] = .string(standIn.subject(of: person.id, for: $1))
            })
        return .object(object)
    }
}

extension StandIn {
    /// A new account with an id of its own.
    func invent(_ fields: JSON.Object, in memory: inout Memory) throws -> Person {
        try invent(
            firstName: try fields.text("first_name"), lastName: try fields.text("last_name"),
            email: try fields.text("email"), in: &memory)
    }

    func invent(firstName: String?, lastName: String?, email: String?, in memory: inout Memory) throws -> Person {
        guard memory.people.count < Memory.maximumPeople else {
            throw ControlError("there are too many people", spanish: "Ya hay demasiadas personas.")
        }
        let id = Hexadecimal.text(try cryptography.randomBytes(6)[...])
        guard let person = Person(inventedAs: id, firstName: firstName, lastName: lastName, email: email) else {
            throw ControlError(
                "a person has a first_name or a last_name, and an email with one @ or none at all",
                spanish: "Una persona necesita un nombre; su correo, si tiene, lleva una sola @.")
        }
        memory.people.append(person)
        return person
    }

    /// The person whom a control request means: an id or an address, or an object that invents one.
    func person(_ json: JSON?, in memory: inout Memory) throws -> Person {
        switch json {
        case nil, .null:
            guard let first = memory.people.first else { throw ControlError("there is nobody left; invent a person") }
            return first
        case .string(let name):
            guard let person = memory.people.first(where: { $0.id == name || $0.email == name }) else {
                throw ControlError(
                    "there is no such person; GET /simulator/people lists them", spanish: "Esa persona no existe.",
                    status: 404)
            }
            return person
        case .object(let fields):
            guard fields.members.allSatisfy({ PeopleEndpoint.members.contains($0.name) }) else {
                throw ControlError("a person has \(PeopleEndpoint.members.joined(separator: ", "))")
            }
            return try invent(fields, in: &memory)
        case .bool, .integer, .decimal, .array: throw ControlError("person is not a string or an object")
        }
    }
}
