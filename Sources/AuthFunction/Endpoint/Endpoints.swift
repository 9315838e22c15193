package import Accounts
package import JOSE

/// Every route, each of a few lines: what it reads, which use case it is, what it answers.
package struct Endpoints {
    private let signIn: SignIn
    private let sessions: Sessions
    let life: AccountLifeEndpoint
    /// Nil when the web flow is not configured.
    let web: WebSignIn?
    private let limiter: RateLimiter
    private let clientAddress: ClientAddress
    private let publicKeys: KeySet
    let cryptography: any Cryptography

    /// - Parameter trustedProxies: how many proxies of ours stand before the function's own web server.
    package init(
        signIn: SignIn, sessions: Sessions, life: AccountLifeEndpoint = AccountLifeEndpoint(), web: WebSignIn? = nil,
        limiter: RateLimiter, trustedProxies: Int, publicKeys: KeySet, cryptography: any Cryptography
    ) {
        self.signIn = signIn
        self.sessions = sessions
        self.life = life
        self.web = web
        self.limiter = limiter
        clientAddress = ClientAddress(trustedProxies: trustedProxies)
        self.publicKeys = publicKeys
        self.cryptography = cryptography
    }

    func answer(
        _ request: Request, at now: UnixTime, log: inout LogLine, errands: inout [Errand]
    ) throws(Failure) -> Response {
        let route = try Route.find(method: request.method, path: request.path, in: life)
        log.route = "\(request.method) \(route.name)"
        let address = clientAddress.of(request)
        let origin = AuditEntry.Origin(requestID: log.requestID, sourceAddress: address)
        switch route {
        case .signIn:
            try countSignIn(from: address, at: now)
            return try signIn(request, origin: origin, at: now, log: &log, errands: &errands)
        case .providers: return try providers(request)
        case .webAuthorize:
            try countSignIn(from: address, at: now)
            return try authorize(request, at: now)
        case .webCallback:
            try countSignIn(from: address, at: now)
            return try finish(request, at: now, log: &log)
        case .webExchange:
            try countSignIn(from: address, at: now)
            return try exchange(request, origin: origin, at: now, log: &log, errands: &errands)
        case .refresh: return try refresh(request, origin: origin, at: now, log: &log)
        case .logOut: return try logOut(request, origin: origin, at: now)
        case .account where request.method == "DELETE":
            return try delete(request, origin: origin, at: now, log: &log, errands: &errands)
        case .account: return try account(request, at: now, log: &log)
        case .appleNotifications: return try hear(request, origin: origin, at: now, log: &log)
        case .sessions: return try manageSessions(request, origin: origin, at: now)
        case .session(let id): return try endSession(id, request, origin: origin, at: now)
        case .keySet:
            return Response(
                status: 200, json: publicKeys.json, type: "application/jwk-set+json",
                headers: ["cache-control": "public, max-age=\(SigningKeySet.publicMaxAgeSeconds)"])
        case .health:
            return Response(status: 200, json: ["status": "ok"], headers: ["cache-control": "no-store"])
        }
    }

    private func countSignIn(from address: String?, at now: UnixTime) throws(Failure) {
        try limiter.count(.signIn, at: now) { address.flatMap { IPAddress($0)?.network } ?? [] }
    }

    private func signIn(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine, errands: inout [Errand]
    ) throws(Failure) -> Response {
        let input = try SignInEndpoint.request(
            from: try request.jsonBody(), idempotencyKey: request.headers["idempotency-key"],
            userAgent: request.userAgent, readsCode: signIn.wantsCode)
        let signedIn: SignedIn
        do throws(SignInFailure) {
            signedIn = try signIn(input, origin: origin, at: now)
        } catch {
            throw Failure(error)
        }
        log.accountCreated = signedIn.isNew
        log.setSubject(signedIn.account, using: cryptography)
        switch signedIn.code {
        case .presented(let code)? where life.exchangesCodes: errands.append(.exchange(code))
        case .dropped?: log.reason = "code_dropped"
        case .presented?, nil: break
        }
        return SignInEndpoint.response(to: signedIn)
    }
}

/// The routes of a session that is there already.
extension Endpoints {
    private func refresh(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine
    ) throws(Failure) -> Response {
        let token = try SessionEndpoint.refreshToken(from: try request.jsonBody())
        // Ids are no secrets, so only a token that we made counts.
        try limiter.count(.refresh, at: now) { () throws(Failure) in
            try asFailure { () throws(SessionFailure) in try sessions.session(named: token)?.bytes }
        }
        let signedIn = try asFailure { () throws(SessionFailure) in
            try sessions.refresh(token, origin: origin, at: now)
        }
        log.setSubject(signedIn.account, using: cryptography)
        return SignInEndpoint.response(to: signedIn)
    }

    private func logOut(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(Failure) -> Response {
        if request.body.isEmpty {
            let accessToken = SessionEndpoint.bearerToken(of: request)
            try asFailure { () throws(SessionFailure) in
                try sessions.logOut(accessToken: accessToken, origin: origin, at: now)
            }
        } else {
            let token = try SessionEndpoint.refreshToken(from: try request.jsonBody())
            try asFailure { () throws(SessionFailure) in
                try sessions.logOut(refreshToken: token, origin: origin, at: now)
            }
        }
        return SessionEndpoint.noContent
    }

    private func account(_ request: Request, at now: UnixTime, log: inout LogLine) throws(Failure) -> Response {
        let (account, session) = try current(request, at: now)
        log.setSubject(account, using: cryptography)
        return SessionEndpoint.account(account, session: session)
    }

    private func manageSessions(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(Failure) -> Response {
        let accessToken = SessionEndpoint.bearerToken(of: request)
        return try asFailure { () throws(SessionFailure) in
            if request.method == "DELETE" {
                try sessions.endOthers(accessToken: accessToken, origin: origin, at: now)
                return SessionEndpoint.noContent
            }
            let (list, current) = try sessions.list(accessToken: accessToken, at: now)
            return SessionEndpoint.list(list, current: current)
        }
    }

    /// Whose token it is comes first: a stranger learns nothing, not even what an id looks like.
    private func endSession(
        _ id: UUIDv7?, _ request: Request, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(Failure) -> Response {
        guard let id else {
            _ = try current(request, at: now)
            throw .notFound
        }
        let accessToken = SessionEndpoint.bearerToken(of: request)
        try asFailure { () throws(SessionFailure) in
            try sessions.end(id, accessToken: accessToken, origin: origin, at: now)
        }
        return SessionEndpoint.noContent
    }

    private func current(_ request: Request, at now: UnixTime) throws(Failure) -> (Account, Session) {
        let accessToken = SessionEndpoint.bearerToken(of: request)
        return try asFailure { () throws(SessionFailure) in try sessions.current(accessToken: accessToken, at: now) }
    }

    private func asFailure<Success>(_ work: () throws(SessionFailure) -> Success) throws(Failure) -> Success {
        do throws(SessionFailure) {
            return try work()
        } catch {
            throw Failure(error)
        }
    }
}

extension Request {
    /// The body as a JSON object; a type that says something else is refused before it is read.
    func jsonBody() throws(Failure) -> JSON.Object {
        guard body.count <= AuthFunction.maximumBodySize else { throw .contentTooLarge }
        guard hasType("application/json") else { throw .unsupportedMediaType }
        let json: JSON
        do {
            json = try JSON(parsing: body, limits: JSON.Limits(bytes: AuthFunction.maximumBodySize, depth: 16))
        } catch {
            throw .invalidRequest([.init("body", "not_json")])
        }
        guard let object = json.object else { throw .invalidRequest([.init("body", "not_a_json_object")]) }
        return object
    }

    /// Whether the Content-Type is this one. Its parameters are passed over: what we read has one encoding (RFC 8259 §8.1),
    /// whatever a charset says.
    func hasType(_ expected: String) -> Bool {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let field = (headers["content-type"] ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }.drop(while: isSpace)
        guard let end = field.lastIndex(where: { !isSpace($0) }) else { return false }
        let type = field[...end]
        return type.count == expected.utf8.count && Substring(type).lowercased() == expected
    }
}

extension LogLine {
    mutating func setSubject(_ account: Account, using cryptography: any Cryptography) {
        guard let subject = account.appleSubject else { return }
        subjectHash = Self.subjectHash(of: subject, using: cryptography)
    }
}
