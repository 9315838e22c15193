internal import JOSE

/// The token and revocation endpoints (RFC 6749 §4.1.3 and §6, RFC 7009), as Apple has them.
extension StandIn {
    static let accessTokenSeconds: Int64 = 3600

    /// A client that has shown who it is.
    struct Authenticated {
        let client: Registry.Client
        let team: String
    }

    /// - Parameter forMigration: then a team may speak that the app belonged to, or will belong to.
    func authenticate(_ form: Form, forMigration: Bool, in memory: Memory) throws(OAuthError) -> Authenticated {
        guard let id = form["client_id"] else { throw OAuthError(.invalidRequest, "client_id is missing") }
        guard let secret = form["client_secret"] else {
            throw OAuthError(.invalidClient, "client_secret is missing")
        }
        guard let client = registry.client(id) else { throw OAuthError(.invalidClient, "client_id is not registered") }
        var teams = [owner(of: client, in: memory)]
        if forMigration {
            teams += client.teams + memory.moves.filter { $0.client == client.id }.flatMap { [$0.source, $0.target] }
        }
        // Without any team and client nothing says who may speak for it.
        if registry.keys.isEmpty, registry.clients.isEmpty { teams = [] }
        let checked = try ClientSecret(
            checking: secret, client: id, teams: teams, keys: registry.keys, now: now, using: cryptography)
        return Authenticated(client: client, team: checked.team)
    }

    func exchangeCode(_ form: Form, for caller: Authenticated, in memory: inout Memory) throws -> JSON {
        guard let code = form["code"] else { throw OAuthError(.invalidRequest, "code is missing") }
        let digest = digest(code)
        guard let grant = memory.grant([.code], digest: digest), !grant.isExpired(at: now) else {
            throw OAuthError(.invalidGrant, "code is unknown, expired or revoked")
        }
        guard grant.client == caller.client.id else {
            throw OAuthError(.invalidGrant, "code was not issued to this client_id")
        }
        guard !grant.isUsed else { throw OAuthError(.invalidGrant, "code has been used before") }
        switch (grant.redirectURI, form["redirect_uri"]) {
        case (nil, nil): break
        case (nil, _?): throw OAuthError(.invalidGrant, "redirect_uri is sent with the code of a native app")
        case (_?, nil): throw OAuthError(.invalidGrant, "redirect_uri is missing")
        case (let asked?, let sent?):
            guard asked.isIdentical(to: sent) else {
                throw OAuthError(.invalidGrant, "redirect_uri is not that of the authorize request")
            }
        }
        for index in memory.grants.indices where memory.grants[index].digest == digest {
            memory.grants[index].isUsed = true
        }
        let refresh = try newSecret("r")
        var lasting = grant
        (lasting.kind, lasting.digest, lasting.expires) = (.refresh, self.digest(refresh), nil)
        (lasting.redirectURI, lasting.nonce) = (nil, nil)
        memory.issue(lasting, at: now)
        var answer = try tokens(for: grant, in: &memory)
        answer["refresh_token"] = .string(refresh)
        return .object(answer)
    }

    /// No new refresh token: Apple's stays the same.
    func refresh(_ form: Form, for caller: Authenticated, in memory: inout Memory) throws -> JSON {
        guard let token = form["refresh_token"] else { throw OAuthError(.invalidRequest, "refresh_token is missing") }
        guard let grant = memory.grant([.refresh], digest: digest(token)) else {
            throw OAuthError(.invalidGrant, "refresh_token is unknown or revoked")
        }
        guard grant.client == caller.client.id else {
            throw OAuthError(.invalidGrant, "refresh_token was not issued to this client_id")
        }
        return .object(try tokens(for: grant, in: &memory))
    }

    /// Whether there was something to revoke. The consent goes with it, as with Apple.
    func revoke(_ form: Form, for caller: Authenticated, in memory: inout Memory) throws(OAuthError) -> Bool {
        guard let token = form["token"] else { throw OAuthError(.invalidRequest, "token is missing") }
        // The hint may be wrong or unknown (RFC 7009 §2.1).
        guard let grant = memory.grant([.refresh, .access], digest: digest(token)) else { return false }
        guard grant.client == caller.client.id else {
            throw OAuthError(.invalidGrant, "token was not issued to this client_id")
        }
        memory.withdraw(person: grant.person, client: grant.client)
        return true
    }

    private func tokens(for grant: Grant, in memory: inout Memory) throws -> JSON.Object {
        guard let person = memory.person(grant.person) else {
            throw OAuthError(.invalidGrant, "the account has been deleted")
        }
        let access = try newSecret("a")
        var brief = grant
        (brief.kind, brief.digest, brief.expires) = (.access, digest(access), now + Self.accessTokenSeconds)
        (brief.redirectURI, brief.nonce, brief.isUsed) = (nil, nil, false)
        memory.issue(brief, at: now)
        let consent = memory.consent(of: person.id, to: grant.client)
        var token = identityToken(of: person, for: grant, consent: consent, in: memory)
        token.accessToken = access
        return [
            "access_token": .string(access), "token_type": "Bearer", "expires_in": .integer(Self.accessTokenSeconds),
            "id_token": .string(try signed(try token.claims(using: cryptography))),
        ]
    }
}
