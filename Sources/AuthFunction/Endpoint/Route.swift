internal import Accounts

/// The routes (design §7), and which methods each takes.
enum Route: Hashable {
    case signIn
    case refresh
    case logOut
    case account
    case sessions
    /// One session; nil where the path names none that could be.
    case session(UUIDv7?)
    case appleNotifications
    case keySet
    case providers
    case webAuthorize
    case webCallback
    case webExchange
    case health

    private static let fixed: [(path: String, route: Route)] = [
        ("/auth/apple", .signIn), ("/auth/refresh", .refresh), ("/auth/logout", .logOut), ("/auth/me", .account),
        ("/auth/sessions", .sessions), ("/auth/apple/notifications", .appleNotifications),
        ("/auth/providers", .providers), ("/auth/apple/authorize", .webAuthorize),
        ("/auth/apple/callback", .webCallback), ("/auth/apple/exchange", .webExchange),
        ("/.well-known/jwks.json", .keySet), ("/health", .health),
    ]
    private static let sessionPrefix = "/auth/sessions/"

    /// A path is compared as a whole and by its bytes: no trailing slash, no other case, no dot segments. (Unicode's
    /// equality, which `==` is, takes quadratic time on a hostile text.)
    ///
    /// - Parameter life: what is off is not there.
    static func find(method: String, path: String, in life: AccountLifeEndpoint) throws(Failure) -> Route {
        guard let route = Route(path: path.utf8) else { throw .notFound }
        let methods = route.methods(in: life)
        guard !methods.isEmpty else { throw .notFound }
        guard methods.contains(where: { $0.utf8.elementsEqual(method.utf8) }) else {
            throw .methodNotAllowed(allowed: methods)
        }
        return route
    }

    private init?(path: String.UTF8View) {
        if let entry = Self.fixed.first(where: { $0.path.utf8.elementsEqual(path) }) {
            self = entry.route
            return
        }
        let id = path.dropFirst(Self.sessionPrefix.utf8.count)
        guard path.starts(with: Self.sessionPrefix.utf8), !id.isEmpty, !id.contains(UInt8(ascii: "/")) else {
            return nil
        }
        self = .session(UUIDv7(String(Substring(id))))
    }

    private func methods(in life: AccountLifeEndpoint) -> [String] {
        switch self {
        case .signIn, .refresh, .logOut, .webCallback, .webExchange: ["POST"]
        case .account: ["GET", "HEAD"] + (life.deletion == nil ? [] : ["DELETE"])
        case .appleNotifications: life.notifications == nil ? [] : ["POST"]
        case .keySet, .providers, .health: ["GET", "HEAD"]
        // HEAD would begin a flow that nobody goes on with.
        case .webAuthorize: ["GET"]
        case .sessions: ["GET", "HEAD", "DELETE"]
        case .session: ["DELETE"]
        }
    }

    static func isOne(path: String) -> Bool { Route(path: path.utf8) != nil }

    /// Whether a browser comes here with a person before it, and not a program.
    static func isForPeople(path: String) -> Bool {
        switch Route(path: path.utf8) {
        case .webAuthorize?, .webCallback?: true
        default: false
        }
    }

    /// For the log: the route's own name and never what was asked for.
    var name: String {
        if case .session = self { return "\(Self.sessionPrefix){id}" }
        return Self.fixed.first { $0.route == self }?.path ?? ""
    }
}
