internal import JOSE

/// A client secret: an ES256 JWT that an app's server makes with its team's key. What Apple checks of it is checked here, in
/// this order: form, `alg`, `kid`, the team's key and its signature, `iss`, `sub`, `aud`, `iat`, `exp`.
struct ClientSecret {
    static let audience = "https://appleid.apple.com"
    /// About six months, the longest that Apple takes.
    static let maximumSeconds: Int64 = 15_777_000
    private static let leeway: Int64 = 60

    let team: String

    /// - Parameter teams: those that may speak for the client; empty for any.
    init(
        checking text: String, client: String, teams: [String], keys: [Registry.Key], now: Int64,
        using cryptography: any Cryptography
    ) throws(OAuthError) {
        let bytes = Array(text.utf8)
        let token: CompactJWS
        do throws(JOSEError) {
            token = try CompactJWS(parsing: bytes[...], allowing: [.es256])
        } catch {
            throw Self.refusal(error == .algorithm ? "alg is not ES256" : "it is not a JWT")
        }
        guard let keyID = token.header.keyID else { throw Self.refusal("it names no kid") }
        // When nobody's key is known nothing can be proved; the claims are read to check their shape.
        let claims =
            keys.isEmpty
            ? try Self.unprovenClaims(of: bytes)
            : try Self.claims(
                of: token, by: keys.filter { $0.keyID.isIdentical(to: keyID) && Self.mayServe($0, teams) },
                using: cryptography)
        guard let team = claims["iss"]?.string, !team.isEmpty, teams.isEmpty || teams.contains(team) else {
            throw Self.refusal("iss is not the Team ID of this client")
        }
        guard let subject = claims["sub"]?.string, subject.isIdentical(to: client) else {
            throw Self.refusal("sub is not the client_id")
        }
        let audiences = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        guard audiences == [.string(Self.audience)] else { throw Self.refusal("aud is not \(Self.audience)") }
        guard let issued = claims["iat"]?.integer, issued <= now + Self.leeway else {
            throw Self.refusal("iat is missing, no whole number, or ahead")
        }
        guard let expiry = claims["exp"]?.integer, expiry > now else {
            throw Self.refusal("exp is missing, no whole number, or over")
        }
        guard expiry <= now + Self.maximumSeconds else {
            throw Self.refusal("exp is more than \(Self.maximumSeconds) s ahead")
        }
        self.team = team
    }

    /// By one of the keys of that name: teams choose their names without asking one another.
    private static func claims(
        of token: CompactJWS, by keys: [Registry.Key], using cryptography: any Cryptography
    ) throws(OAuthError) -> JSON.Object {
        guard !keys.isEmpty else { throw refusal("no team of this client has registered its kid") }
        var reason = "its signature is not the registered key's"
        for key in keys {
            do throws(JOSEError) {
                let jwk = JWK(keyID: key.keyID, key: key.publicKey)
                let claims = try token.verified(by: jwk, using: cryptography).claims()
                if claims["iss"]?.string == key.team { return claims }
                reason = "iss is not the Team ID of its kid"
            } catch {
                if error == .malformed { reason = "it has no claims" }
            }
        }
        throw refusal(reason)
    }

    private static func mayServe(_ key: Registry.Key, _ teams: [String]) -> Bool {
        teams.isEmpty || teams.contains(key.team)
    }

    private static func refusal(_ reason: String) -> OAuthError {
        OAuthError(.invalidClient, "client_secret: \(reason)")
    }

    private static func unprovenClaims(of token: [UInt8]) throws(OAuthError) -> JSON.Object {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let limits = JSON.Limits(bytes: CompactJWS.maximumSize, depth: 8)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]),
            let claims = try? JSON(parsing: bytes, limits: limits).object
        else { throw refusal("it has no claims") }
        return claims
    }
}
