internal import JOSE

/// Something that was issued and may come back: an authorization code or a token. Kept by its digest, so that a state file
/// gives none away.
struct Grant: Hashable {
    enum Kind: String {
        case code, refresh, access
        /// Of `client_credentials`, for the migration of accounts: no person's, but a team's.
        case migration
    }

    var kind: Kind
    var digest: String
    var client: String
    var team: String
    /// Empty for a team's own.
    var person = ""
    /// Seconds of 1970; a refresh token lives until it is revoked.
    var expires: Int64?
    /// Of the authorize request; a native code has none.
    var redirectURI: String?
    var nonce: String?
    /// Whether the request asked for the address.
    var hasEmail = false
    /// A used code is kept until it would have expired, so that the second use can be told from a code that never was.
    var isUsed = false

    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

extension Grant {
    init?(_ json: JSON) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init), let digest = json["digest"]?.string,
            let client = json["client"]?.string, let team = json["team"]?.string, let person = json["person"]?.string,
            let hasEmail = json["has_email"]?.bool, let isUsed = json["used"]?.bool
        else { return nil }
        self.init(
            kind: kind, digest: digest, client: client, team: team, person: person, expires: json["expires"]?.integer,
            redirectURI: json["redirect_uri"]?.string, nonce: json["nonce"]?.string, hasEmail: hasEmail, isUsed: isUsed)
    }

    var json: JSON {
        [
            "kind": .string(kind.rawValue), "digest": .string(digest), "client": .string(client),
            "team": .string(team), "person": .string(person), "expires": expires.map { .integer($0) } ?? .null,
            "redirect_uri": .string(orNull: redirectURI), "nonce": .string(orNull: nonce),
            "has_email": .bool(hasEmail), "used": .bool(isUsed),
        ]
    }
}
