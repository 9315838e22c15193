/// One of Apple's addresses, or of this simulator's own. A new one is a file in `Endpoints/` or `Control/` and an entry in
/// `ServeCommand`.
protocol Endpoint {
    var path: String { get }
    /// HEAD comes with GET and need not be named.
    var methods: [String] { get }

    func reply(to request: HTTPRequest) throws -> Reply
}

/// One that knows its answer at once, as nearly all do.
protocol PromptEndpoint: Endpoint {
    func respond(to request: HTTPRequest) throws -> HTTPResponse
}

extension PromptEndpoint {
    func reply(to request: HTTPRequest) throws -> Reply { .now(try respond(to: request)) }
}

/// Finds the endpoint of a request.
struct Router {
    let endpoints: [any Endpoint]
    let faults: Faults
    let log: RequestLog
    /// What a client of this server calls it. Another name is a page elsewhere whose name was made to point here.
    let authorities: [String]

    func reply(to request: HTTPRequest) -> Reply {
        guard let host = request.headers["host"] else { return .now(.text(400, "There is no Host")) }
        guard authorities.contains(host.lowercased()) else { return .now(.text(421, "This is \(authorities[0])")) }
        guard let endpoint = endpoints.first(where: { $0.path == request.path }) else {
            let paths = endpoints.map(\.path).joined(separator: ", ")
            return .now(.text(404, "There is nothing here; there is \(paths)"))
        }
        let allowed = endpoint.methods + (endpoint.methods.contains("GET") ? ["HEAD"] : [])
        guard allowed.contains(request.method) else {
            let headers = [(name: "Allow", value: allowed.joined(separator: ", "))]
            return .now(.text(405, "Not for \(endpoint.path)", headers: headers))
        }
        // A page elsewhere that a developer has open must not act here: browsers say where a form or a script comes from.
        if request.method != "GET", let origin = request.headers["origin"], !isOwn(origin) {
            return .now(.text(403, "This may not be sent from a page elsewhere", outcome: "refused: another origin"))
        }
        // What is the simulator's own never fails on order, or the order could not be taken back.
        guard endpoint.path.hasPrefix("/auth/") else { return attempt(endpoint, request) }
        let reply = spoiled(endpoint, request)
        switch reply {
        case .now(let response), .later(let response, _):
            log.note(request, status: response.status, outcome: response.outcome ?? "answered")
        case .never: log.note(request, status: nil, outcome: "fault: dropped")
        case .whenDone: break
        }
        return reply
    }

    private func isOwn(_ origin: String) -> Bool {
        authorities.contains { "http://\($0)" == origin.lowercased() }
    }

    private func spoiled(_ endpoint: any Endpoint, _ request: HTTPRequest) -> Reply {
        guard let fault = faults.next(at: endpoint.path) else { return attempt(endpoint, request) }
        if fault.isDropped { return .never }
        let reply =
            fault.status.map { .now(.text($0, "This fault was ordered", outcome: "fault: status \($0)")) }
            ?? attempt(endpoint, request)
        guard fault.delay > 0, case .now(var response) = reply else { return reply }
        response.outcome = "fault: late; \(response.outcome ?? "answered")"
        return .later(response, milliseconds: fault.delay)
    }

    private func attempt(_ endpoint: any Endpoint, _ request: HTTPRequest) -> Reply {
        do {
            return try endpoint.reply(to: request)
        } catch let error as OAuthError {
            return .now(error.response)
        } catch let error as ControlError {
            return .now(error.response)
        } catch {
            let reason = (error as? Failure)?.reason ?? "The simulator failed"
            Descriptor.printError("apple-simulator: \(reason)")
            return .now(.text(500, "The simulator failed; its log says how", outcome: "the simulator failed"))
        }
    }
}
