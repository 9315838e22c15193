internal import Accounts

/// The routes (design §7), and which methods each takes.
enum Route {
    case signIn
    case refresh
    case logOut
    case account
    case sessions
    /// One session, by what stands in the path.
    case session(String)
    case keySet
    case health

    /// A path is compared as a whole: no trailing slash, no other case, no dot segments.
    static func find(method: String, path: String) throws(Failure) -> Route {
        guard let route = Route(path: path) else { throw .notFound }
        guard route.methods.contains(method) else { throw .methodNotAllowed(allowed: route.methods) }
        return route
    }

    private init?(path: String) {
        switch path {
        case "/auth/apple": self = .signIn
        case "/auth/refresh": self = .refresh
        case "/auth/logout": self = .logOut
        case "/auth/me": self = .account
        case "/auth/sessions": self = .sessions
        case "/.well-known/jwks.json": self = .keySet
        case "/health": self = .health
        default:
            let prefix = "/auth/sessions/"
            guard path.hasPrefix(prefix), path.utf8.count > prefix.utf8.count else { return nil }
            let id = String(path.dropFirst(prefix.count))
            guard !id.contains("/") else { return nil }
            self = .session(id)
        }
    }

    private var methods: [String] {
        switch self {
        case .signIn, .refresh, .logOut: ["POST"]
        case .account, .keySet, .health: ["GET", "HEAD"]
        case .sessions: ["GET", "HEAD", "DELETE"]
        case .session: ["DELETE"]
        }
    }

    /// For the log: the route's own name and never what was asked for.
    var name: String {
        switch self {
        case .signIn: "/auth/apple"
        case .refresh: "/auth/refresh"
        case .logOut: "/auth/logout"
        case .account: "/auth/me"
        case .sessions: "/auth/sessions"
        case .session: "/auth/sessions/{id}"
        case .keySet: "/.well-known/jwks.json"
        case .health: "/health"
        }
    }
}
