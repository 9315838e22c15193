/// The routes (design §7), and which method each takes.
enum Route: String, CaseIterable {
    case signIn = "/auth/apple"
    case keySet = "/.well-known/jwks.json"
    case health = "/health"

    var methods: [String] {
        switch self {
        case .signIn: ["POST"]
        case .keySet, .health: ["GET", "HEAD"]
        }
    }

    /// A path is compared as a whole: no trailing slash, no other case, no dot segments.
    static func find(method: String, path: String) throws(Failure) -> Route {
        guard let route = Route(rawValue: path) else { throw .notFound }
        guard route.methods.contains(method) else { throw .methodNotAllowed(allowed: route.methods) }
        return route
    }
}
