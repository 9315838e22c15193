/// The stores of this build, by URL scheme.
package enum UserStores {
    /// The store that `url` names. Only the URL is judged here: a wrong one stops the program at its start, an unreachable
    /// database only those requests that need it.
    ///
    /// - Parameters:
    ///   - isDevelopment: whether a store may be asked over plain HTTP, on this machine only.
    ///   - patience: how long one request may wait for others that are writing.
    ///   - accountQueries: a folder with the statements of a users table of the owner's, which PostgreSQL alone can use.
    ///   - isLinking: whether accounts there are to be found by a verified address as well.
    package static func open(
        _ url: String, isDevelopment: Bool = false, patience: Duration = .seconds(5), accountQueries: String? = nil,
        isLinking: Bool = false
    ) throws(StoreConfigurationError) -> any UserStore {
        guard let colon = url.firstIndex(of: ":") else { throw .unknownScheme }
        if isLinking, accountQueries == nil { throw .cannotLink }
        let rest = String(url[url.index(after: colon)...])
        let scheme = url[..<colon].lowercased()
        if accountQueries != nil, scheme != "postgres", scheme != "postgresql" { throw .cannotMap }
        switch scheme {
        case "sqlite":
            #if SQLite
            return try SQLiteUserStore(location: rest, patience: patience)
            #else
            throw .absent(store: "SQLite", remedy: "build with the trait SQLite, which is on by default")
            #endif
        case "memory":
            guard rest.isEmpty else { throw .invalid(reason: "nothing may follow memory:") }
            return MemoryUserStore()
        case "postgres", "postgresql":
            #if PostgreSQL
            if let accountQueries {
                guard AccountQueries.isFolder(accountQueries) else { throw .noQueries }
                if isLinking, !AccountQueries.canLink(accountQueries) { throw .cannotLink }
            }
            return try PostgreSQLUserStore(location: rest, patience: patience, accountQueries: accountQueries)
            #else
            throw .absent(store: "PostgreSQL", remedy: "build with --traits default,PostgreSQL")
            #endif
        case "dynamodb":
            return try DynamoDBUserStore(location: rest, isDevelopment: isDevelopment, patience: patience)
        default:
            throw .unknownScheme
        }
    }
}

/// Why a store's URL cannot be used. The URL itself is never repeated: it may hold a password.
package enum StoreConfigurationError: Error, Hashable, CustomStringConvertible {
    case unknownScheme
    /// The scheme is known, and this build lacks its store.
    case absent(store: String, remedy: String)
    case invalid(reason: String)
    /// This store keeps accounts in no table but its own.
    case cannotMap
    /// The folder of the owner's statements is none.
    case noQueries
    /// There is nobody to link: every account has come about by Apple.
    case cannotLink

    package var description: String {
        switch self {
        case .unknownScheme: "the store is none of sqlite:PATH, postgres://…, dynamodb:TABLE, memory:"
        case .absent(let store, let remedy): "this build has no \(store) store: \(remedy)"
        case .invalid(let reason): reason
        case .cannotMap: "AUTH_APPLE_ACCOUNT_QUERIES goes with a store in PostgreSQL: unset it, or set postgres://…"
        case .noQueries: "AUTH_APPLE_ACCOUNT_QUERIES names no folder: see deploy/postgresql/users"
        case .cannotLink:
            "AUTH_APPLE_LINK_VERIFIED_EMAIL wants find_by_verified_email.sql in the folder AUTH_APPLE_ACCOUNT_QUERIES names"
        }
    }
}
