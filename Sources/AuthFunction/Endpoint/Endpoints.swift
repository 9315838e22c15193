package import Accounts
package import JOSE

/// Every route, each of a few lines: what it reads, which use case it is, what it answers.
package struct Endpoints {
    private let signIn: SignIn
    private let sessions: Sessions
    private let limiter: RateLimiter
    private let clientAddress: ClientAddress
    private let publicKeys: KeySet
    private let cryptography: any Cryptography

    /// - Parameter trustedProxies: how many proxies of ours stand before the function's own web server.
    package init(
        signIn: SignIn, sessions: Sessions, limiter: RateLimiter, trustedProxies: Int, publicKeys: KeySet,
        cryptography: any Cryptography
    ) {
        self.signIn = signIn
        self.sessions = sessions
        self.limiter = limiter
        clientAddress = ClientAddress(trustedProxies: trustedProxies)
        self.publicKeys = publicKeys
        self.cryptography = cryptography
    }

    func answer(_ request: Request, at now: UnixTime, log: inout LogLine) throws(Failure) -> Response {
        let route = try Route.find(method: request.method, path: request.path)
        log.route = "\(request.method) \(route.name)"
        let address = clientAddress.of(request)
        let origin = AuditEntry.Origin(requestID: log.requestID, sourceAddress: address)
        switch route {
        case .signIn:
            try limiter.count(.signIn, at: now) { address.flatMap { IPAddress($0)?.network } ?? [] }
            return try signIn(request, origin: origin, at: now, log: &log)
        case .keySet:
            return Response(
                status: 200, json: publicKeys.json, type: "application/jwk-set+json",
                headers: ["cache-control": "public, max-age=\(SigningKeySet.publicMaxAgeSeconds)"])
        case .health:
            return Response(status: 200, json: ["status": "ok"], headers: ["cache-control": "no-store"])
        case .refresh, .logOut, .account, .sessions, .session:
            return try manageSession(request, route, origin: origin, at: now, log: &log)
        }
    }

    private func signIn(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine
    ) throws(Failure) -> Response {
        let input = try SignInEndpoint.request(
            from: try request.jsonBody(), idempotencyKey: request.headers["idempotency-key"])
        let signedIn: SignedIn
        do throws(SignInFailure) {
            signedIn = try signIn(input, origin: origin, at: now)
        } catch {
            throw Failure(error)
        }
        log.accountCreated = signedIn.isNew
        log.setSubject(signedIn.account, using: cryptography)
        return SignInEndpoint.response(to: signedIn)
    }

    private func manageSession(
        _ request: Request, _ route: Route, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine
    ) throws(Failure) -> Response {
        let accessToken = SessionEndpoint.bearerToken(of: request)
        do {
            switch (route, request.method) {
            case (.refresh, _):
                let token = try SessionEndpoint.refreshToken(from: try request.jsonBody())
                try limiter.count(.refresh, at: now) { () throws(Failure) in try session(of: token) }
                let signedIn = try sessions.refresh(token, origin: origin, at: now)
                log.setSubject(signedIn.account, using: cryptography)
                return SignInEndpoint.response(to: signedIn)
            case (.logOut, _):
                if request.body.isEmpty {
                    try sessions.logOut(accessToken: accessToken, origin: origin, at: now)
                } else {
                    let token = try SessionEndpoint.refreshToken(from: try request.jsonBody())
                    try sessions.logOut(refreshToken: token, origin: origin, at: now)
                }
                return SessionEndpoint.noContent
            case (.sessions, "DELETE"):
                try sessions.endOthers(accessToken: accessToken, origin: origin, at: now)
                return SessionEndpoint.noContent
            case (.sessions, _):
                let (list, current) = try sessions.list(accessToken: accessToken, at: now)
                return SessionEndpoint.list(list, current: current)
            case (.session(let id), _):
                // Whose token it is comes first: a stranger learns nothing, not even what an id looks like.
                guard let id else {
                    _ = try sessions.current(accessToken: accessToken, at: now)
                    throw Failure.notFound
                }
                try sessions.end(id, accessToken: accessToken, origin: origin, at: now)
                return SessionEndpoint.noContent
            default:
                let (account, session) = try sessions.current(accessToken: accessToken, at: now)
                log.setSubject(account, using: cryptography)
                return SessionEndpoint.account(account, session: session)
            }
        } catch let failure as Failure {
            throw failure
        } catch let failure as SessionFailure {
            throw Failure(failure)
        } catch {
            throw .cryptography(reason: "unexpected")
        }
    }
}

extension Endpoints {
    /// The session that a refresh token of ours belongs to. Ids are no secrets, so they alone do not count.
    private func session(of token: String) throws(Failure) -> [UInt8]? {
        do throws(SessionFailure) {
            return try sessions.session(named: token)?.bytes
        } catch {
            throw Failure(error)
        }
    }
}

extension Request {
    /// The body as a JSON object; a type that says something else is refused before it is read.
    fileprivate func jsonBody() throws(Failure) -> JSON.Object {
        guard body.count <= AuthFunction.maximumBodySize else { throw .contentTooLarge }
        guard Self.isJSON(headers["content-type"]) else { throw .unsupportedMediaType }
        let json: JSON
        do {
            json = try JSON(parsing: body, limits: JSON.Limits(bytes: AuthFunction.maximumBodySize, depth: 16))
        } catch {
            throw .invalidRequest([.init("body", "not_json")])
        }
        guard let object = json.object else { throw .invalidRequest([.init("body", "not_a_json_object")]) }
        return object
    }

    /// Whether a Content-Type is JSON's. Its parameters are passed over: JSON has one encoding (RFC 8259 §8.1), whatever a
    /// charset says.
    private static func isJSON(_ contentType: String?) -> Bool {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let field = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }.drop(while: isSpace)
        guard let end = field.lastIndex(where: { !isSpace($0) }) else { return false }
        let type = field[...end]
        return type.count == "application/json".utf8.count && Substring(type).lowercased() == "application/json"
    }
}

extension LogLine {
    /// Lets lines about one person be found together without naming the person: 64 bits of SHA-256.
    fileprivate mutating func setSubject(_ account: Account, using cryptography: any Cryptography) {
        let digest = cryptography.sha256(Array(account.appleSubject.utf8)[...])
        subjectHash = digest[..<8].map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
