/// The stores of this build, by URL scheme.
package enum UserStores {
    /// The store that `url` names. Only the URL is judged here: a wrong one stops the program at its start, an unreachable
    /// database only those requests that need it.
    ///
    /// - Parameters:
    ///   - isDevelopment: whether a store may be asked over plain HTTP, on this machine only.
    ///   - patience: how long one request may wait for others that are writing.
    package static func open(
        _ url: String, isDevelopment: Bool = false, patience: Duration = .seconds(5)
    ) throws(StoreConfigurationError) -> any UserStore {
        guard let colon = url.firstIndex(of: ":") else { throw .unknownScheme }
        let rest = String(url[url.index(after: colon)...])
        switch url[..<colon].lowercased() {
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
            throw .absent(store: "PostgreSQL", remedy: "build with --traits default,PostgreSQL")
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

    package var description: String {
        switch self {
        case .unknownScheme: "the store is none of sqlite:PATH, postgres://…, dynamodb:TABLE, memory:"
        case .absent(let store, let remedy): "this build has no \(store) store: \(remedy)"
        case .invalid(let reason): reason
        }
    }
}
