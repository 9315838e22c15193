internal import CurlHTTP
internal import JOSE

/// `POST /simulator/notify`: a person changes something at Apple, and the app's server is told at once.
struct NotifyEndpoint: Endpoint {
    let path = "/simulator/notify"
    let methods = ["POST"]
    let standIn: StandIn
    let bell: Bell

    func reply(to request: HTTPRequest) throws -> Reply {
        let body = try request.controlBody(members: ["type", "sub", "person", "client_id", "url"])
        guard let kind = try body.text("type").flatMap(Notification.Kind.init) else {
            throw ControlError("type is none of \(Notification.Kind.list)")
        }
        let delivery = try Delivery(to: try body.text("url"))
        let token = try standIn.memory.use { memory in
            let occasion = try standIn.occasion(
                kind, subject: try body.text("sub"), person: body["person"], client: try body.text("client_id"),
                in: &memory)
            return try standIn.notify(occasion, in: &memory)
        }
        return .whenDone(
            try Errand.begin(ringing: bell) {
                let outcome = delivery.send(token)
                return .json(200, outcome.json, outcome: outcome.words)
            })
    }
}

/// The way to an app's server.
struct Delivery: Sendable {
    enum Outcome {
        case answered(Int)
        case failed(String)

        /// Without a status nobody answered.
        var json: JSON {
            switch self {
            case .answered(let status): ["status": .integer(Int64(status)), "error": .null]
            case .failed(let words): ["status": .null, "error": .string(words)]
            }
        }

        var words: String {
            switch self {
            case .answered(let status): "delivered: \(status)"
            case .failed: "not delivered"
            }
        }
    }

    private let url: HTTPURL

    /// `https`, or `http` to this machine.
    init(to text: String?) throws(ControlError) {
        guard let text else { throw ControlError("url is missing", spanish: "Falta la dirección de tu servidor.") }
        do throws(HTTPError) {
            url = try HTTPURL(text, allowing: .loopback)
        } catch {
            throw ControlError(
                "url: \(error.words)", spanish: "La dirección debe ser https://…, o http:// en esta máquina.")
        }
        guard url.scheme != .file else { throw ControlError("url: it must be https or http") }
    }

    /// Waits for the answer, ten seconds at most.
    func send(_ token: String) -> Outcome {
        var request = CurlHTTP.HTTPRequest(
            .post, url, headers: [.init("Content-Type", "application/json")],
            body: Notification.body(token).serialized())
        request.limits.total = .seconds(10)
        do throws(HTTPError) {
            return .answered(try HTTPClient(userAgent: "apple-simulator/1.0").send(request).status)
        } catch {
            return .failed(error.words)
        }
    }
}

extension StandIn {
    /// By `sub` or by person; the app is the one that is named, or the last that they let in, or the first registered.
    func occasion(
        _ kind: Notification.Kind, subject: String?, person named: JSON?, client: String?, in memory: inout Memory
    ) throws -> Occasion {
        var found: (person: Person, team: String)?
        if let subject {
            guard named == nil else { throw ControlError("either sub or person is sent") }
            let teams = registry.teams + memory.moves.map(\.target)
            found = person(subject: subject, of: teams, in: memory)
        } else {
            guard let named else { throw ControlError("sub or person is missing") }
            found = (try person(named, in: &memory), "")
        }
        let latest = found.flatMap { found in memory.consents.last { $0.person == found.person.id }?.client }
        guard let id = client ?? latest ?? registry.clients.first?.id ?? System.environment("APPLE_SIMULATOR_AUDIENCE")
        else {
            throw ControlError(
                "client_id is missing: nobody has signed in, and no client is registered",
                spanish: "Falta la app (client_id): la persona no ha usado ninguna, y no hay ninguna registrada.")
        }
        guard let client = registry.client(id) else {
            throw ControlError("client_id is not registered", spanish: "Esa app (client_id) no está registrada.")
        }
        let team = owner(of: client, in: memory)
        guard let subject = subject ?? found.map({ self.subject(of: $0.person.id, for: team) }) else {
            throw ControlError("sub or person is missing")
        }
        return Occasion(kind: kind, subject: subject, client: client.id, person: found?.person)
    }
}
