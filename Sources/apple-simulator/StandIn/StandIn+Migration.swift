internal import JOSE

/// The migration of accounts when an app goes to another team (Apple's TN3159).
extension StandIn {
    func migrationToken(_ form: Form, for caller: Authenticated, in memory: inout Memory) throws -> JSON {
        guard form["scope"] == "user.migration" else {
            throw OAuthError(.invalidScope, "scope is not user.migration")
        }
        let access = try newSecret("a")
        let grant = Grant(
            kind: .migration, digest: digest(access), client: caller.client.id, team: caller.team,
            expires: now + Self.accessTokenSeconds)
        memory.issue(grant, at: now)
        return [
            "access_token": .string(access), "token_type": "Bearer", "expires_in": .integer(Self.accessTokenSeconds),
        ]
    }

    /// The old team says `sub` and `target`, the new one `transfer_sub`.
    func migrate(_ form: Form, bearer: String?, for caller: Authenticated, in memory: inout Memory) throws -> JSON {
        guard let bearer, let grant = memory.grant([.migration], digest: digest(bearer)), !grant.isExpired(at: now),
            grant.client == caller.client.id, grant.team == caller.team
        else { throw OAuthError(.invalidClient, "the bearer token is not one of user.migration for this client") }
        switch (form["sub"], form["target"], form["transfer_sub"]) {
        case (let subject?, let target?, nil):
            return try depart(subject: subject, from: caller.team, to: target, in: &memory)
        case (nil, nil, let transferSubject?):
            return try arrive(transferSubject, caller, in: memory)
        case (_, _, _): throw OAuthError(.invalidRequest, "either sub and target are sent, or transfer_sub")
        }
    }

    /// The app goes to another team: from now on its subjects and relay addresses are that team's.
    func move(_ client: Registry.Client, to target: String, in memory: inout Memory) {
        let source = owner(of: client, in: memory)
        guard source != target else { return }
        memory.moves.append(Move(client: client.id, source: source, target: target, time: now))
        for consent in memory.consents where consent.client == client.id {
            _ = transfer(of: consent.person, from: source, to: target, in: &memory)
        }
    }

    /// The same for the same person and teams.
    private func transfer(
        of person: String, from source: String, to target: String, in memory: inout Memory
    ) -> Transfer {
        let transfer = Transfer(
            subject: identifier(["transfer", person, source, target]), person: person, source: source, target: target)
        if !memory.transfers.contains(transfer) { memory.transfers.append(transfer) }
        return transfer
    }

    private func depart(
        subject: String, from source: String, to target: String, in memory: inout Memory
    ) throws(OAuthError) -> JSON {
        guard target != source, registry.keys.isEmpty || registry.teams.contains(target) else {
            throw OAuthError(.invalidRequest, "target is not the Team ID of another team")
        }
        let teams = [source] + (registry.keys.isEmpty && registry.clients.isEmpty ? registry.teams : [])
        guard let (person, team) = person(subject: subject, of: teams, in: memory) else {
            throw OAuthError(.invalidRequest, "sub is none of this team's")
        }
        let transfer = transfer(of: person.id, from: team, to: target, in: &memory)
        return ["transfer_sub": .string(transfer.subject)]
    }

    private func arrive(_ subject: String, _ caller: Authenticated, in memory: Memory) throws(OAuthError) -> JSON {
        let known = memory.transfers.first { $0.subject == subject && $0.target == caller.team }
        guard let known, let person = memory.person(known.person) else {
            throw OAuthError(.invalidRequest, "transfer_sub is none that was made for this team")
        }
        var answer: JSON.Object = ["sub": .string(self.subject(of: person.id, for: caller.team))]
        let consent = memory.consent(of: person.id, to: caller.client.id)
        if let address = address(of: person, consent: consent, team: caller.team) {
            answer["email"] = .string(address)
            answer["is_private_email"] = .bool(consent?.hidesEmail == true)
        }
        return .object(answer)
    }
}
