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

    /// A path is compared as a whole and by its bytes: no trailing slash, no other case, no dot segments. (Unicode's
    /// equality, which `==` is, takes quadratic time on a hostile text.)
    static func find(method: String, path: String) throws(Failure) -> Route {
        guard let route = allCases.first(where: { $0.rawValue.utf8.elementsEqual(path.utf8) }) else { throw .notFound }
        guard route.methods.contains(where: { $0.utf8.elementsEqual(method.utf8) }) else {
            throw .methodNotAllowed(allowed: route.methods)
        }
        return route
    }
}
