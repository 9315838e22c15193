internal import JOSE

/// What an app asks for when a person is to sign in.
struct SignInRequest {
    var client: Registry.Client
    /// Nil for a native app.
    var redirectURI: String?
    var wantsName = false
    var wantsEmail = false
    /// Echoed as it came.
    var nonce: String?
}

/// What the app gets back.
struct SignIn {
    var code: String
    var identityToken: String
    /// The `user` of a first sign-in; nil later, and when neither name nor address was asked for.
    var user: JSON?
    var subject: String
}

extension StandIn {
    /// The person goes on: the app has their consent from now on, a code, and an identity token that belongs to it.
    func signIn(
        _ person: Person, to request: SignInRequest, hidingEmail: Bool, in memory: inout Memory
    ) throws -> SignIn {
        let client = request.client.id
        let team = owner(of: request.client, in: memory)
        let known = memory.consent(of: person.id, to: client)
        let consent = known ?? Consent(person: person.id, client: client, hidesEmail: hidingEmail)
        if known == nil { memory.consents.append(consent) }

        let code = try newSecret("c")
        let grant = Grant(
            kind: .code, digest: digest(code), client: client, team: team, person: person.id,
            expires: now + codeSeconds, redirectURI: request.redirectURI, nonce: request.nonce,
            hasEmail: request.wantsEmail)
        memory.issue(grant, at: now)

        var token = identityToken(of: person, for: grant, consent: consent, in: memory)
        token.code = code
        token.isNative = request.redirectURI == nil
        return SignIn(
            code: code, identityToken: try signed(try token.claims(using: cryptography)),
            user: known == nil ? user(person, request, consent, team) : nil,
            subject: subject(of: person.id, for: team))
    }

    /// What every identity token says of the person to this client, whichever endpoint gives it.
    func identityToken(of person: Person, for grant: Grant, consent: Consent?, in memory: Memory) -> IdentityToken {
        var token = IdentityToken(issuedAt: now)
        token.subject = subject(of: person.id, for: grant.team)
        token.audience = grant.client
        token.nonce = grant.nonce
        token.isNative = false
        if grant.hasEmail, let address = address(of: person, consent: consent, team: grant.team) {
            token.email = .address(address)
        }
        token.transferSubject = transferSubject(of: person, in: grant, memory: memory)
        return token
    }

    /// Said for 60 days after the app has moved, of those who had let it in before.
    private func transferSubject(of person: Person, in grant: Grant, memory: Memory) -> String? {
        let move = memory.moves.last { $0.client == grant.client && $0.target == grant.team }
        guard let move, now < move.time + Move.seconds else { return nil }
        return memory.transfers.first {
            $0.person == person.id && $0.source == move.source && $0.target == move.target
        }?.subject
    }

    /// The address that the app is told; nil for an account without one.
    func address(of person: Person, consent: Consent?, team: String) -> String? {
        guard let email = person.email else { return nil }
        guard consent?.hidesEmail == true else { return email }
        return IdentityToken.relayAddress(of: subject(of: person.id, for: team), using: cryptography)
    }

    private func user(_ person: Person, _ request: SignInRequest, _ consent: Consent, _ team: String) -> JSON? {
        var user: JSON.Object = [:]
        if request.wantsName {
            user["name"] = ["firstName": .string(person.firstName), "lastName": .string(person.lastName)]
        }
        if request.wantsEmail, let address = address(of: person, consent: consent, team: team) {
            user["email"] = .string(address)
        }
        return user.members.isEmpty ? nil : .object(user)
    }
}
