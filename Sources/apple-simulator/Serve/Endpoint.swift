/// One of Apple's addresses. A new one is a file in `Endpoints/` and an entry in `ServeCommand`.
protocol Endpoint {
    var path: String { get }
    /// HEAD comes with GET and need not be named.
    var methods: [String] { get }

    func respond(to request: HTTPRequest) throws -> HTTPResponse
}

/// Finds the endpoint of a request.
struct Router {
    let endpoints: [any Endpoint]
    /// What a client of this server calls it. Another name is a page elsewhere whose name was made to point here.
    let authorities: [String]

    func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let host = request.headers["host"] else { return .text(400, "There is no Host") }
        guard authorities.contains(host.lowercased()) else { return .text(421, "This is \(authorities[0])") }
        guard let endpoint = endpoints.first(where: { $0.path == request.path }) else {
            return .text(404, "There is nothing here; there is \(endpoints.map(\.path).joined(separator: ", "))")
        }
        let allowed = endpoint.methods + (endpoint.methods.contains("GET") ? ["HEAD"] : [])
        guard allowed.contains(request.method) else {
            return .text(405, "Not for \(endpoint.path)", headers: [("Allow", allowed.joined(separator: ", "))])
        }
        do {
            return try endpoint.respond(to: request)
        } catch {
            let reason = (error as? Failure)?.reason ?? "The simulator failed"
            Descriptor.printError("apple-simulator: \(reason)")
            return .text(500, "The simulator failed; its log says how")
        }
    }
}
