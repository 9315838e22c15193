package import Accounts
package import JOSE

/// The doorway's inside: one request in, one response out, one line for the log. It knows no runtime; an adapter brings
/// the request and takes the response away.
package struct AuthFunction {
    /// Bytes of a request body; a larger one is not read.
    package static let maximumBodySize = 65_536

    private let signIn: SignIn
    private let publicKeys: KeySet
    private let cryptography: any Cryptography
    private let clock: Clock
    private let keyLookup: () -> KeyLookup?

    package init(
        signIn: SignIn, publicKeys: KeySet, cryptography: any Cryptography, clock: Clock,
        keyLookup: @escaping () -> KeyLookup?
    ) {
        self.signIn = signIn
        self.publicKeys = publicKeys
        self.cryptography = cryptography
        self.clock = clock
        self.keyLookup = keyLookup
    }

    /// Answers a request; a request that could not even be read comes as the failure that it is.
    package func respond(to incoming: Result<Request, Failure>) -> Exchange {
        let start = clock.monotonicMilliseconds()
        let now = clock.now()
        let context = (try? incoming.get())?.context
        let requestID = context?.requestID ?? Self.newRequestID(at: now, using: cryptography)
        var log = LogLine(time: now, requestID: requestID)
        var response: Response
        do throws(Failure) {
            response = try answer(try incoming.get(), at: now, log: &log)
            log.outcome = "ok"
        } catch {
            let problem = Problem(error)
            log.outcome = problem.code
            log.reason = error.logReason
            response = problem.response(
                in: Language(accepting: (try? incoming.get())?.headers["accept-language"]), requestID: requestID)
        }
        log.status = response.status
        log.keyCache = keyLookup()
        log.milliseconds = clock.monotonicMilliseconds() - start
        // RFC 9110 §9.3.2: HEAD is GET without the body.
        if (try? incoming.get())?.isHead == true { response.body = [] }
        return Exchange(response: response, log: log)
    }

    private func answer(_ request: Request, at now: UnixTime, log: inout LogLine) throws(Failure) -> Response {
        let route = try Route.find(method: request.method, path: request.path)
        log.route = "\(request.method) \(route.rawValue)"
        switch route {
        case .signIn:
            let signedIn: SignedIn
            let input = try SignInEndpoint.request(from: try jsonBody(of: request))
            do throws(SignInFailure) {
                signedIn = try signIn(input, at: now)
            } catch {
                throw Failure(error)
            }
            log.accountCreated = signedIn.isNew
            log.subjectHash = subjectHash(signedIn.account.appleSubject)
            return SignInEndpoint.response(to: signedIn)
        case .keySet:
            return Response(
                status: 200, json: publicKeys.json, type: "application/jwk-set+json",
                headers: ["cache-control": "public, max-age=\(SigningKeySet.publicMaxAgeSeconds)"])
        case .health:
            return Response(status: 200, json: ["status": "ok"], headers: ["cache-control": "no-store"])
        }
    }

    private func jsonBody(of request: Request) throws(Failure) -> JSON.Object {
        guard request.body.count <= Self.maximumBodySize else { throw .contentTooLarge }
        guard Self.isJSON(request.headers["content-type"]) else { throw .unsupportedMediaType }
        let json: JSON
        do {
            json = try JSON(parsing: request.body, limits: JSON.Limits(bytes: Self.maximumBodySize, depth: 16))
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

    private static func newRequestID(at now: UnixTime, using cryptography: any Cryptography) -> String {
        let random = (try? cryptography.randomBytes(10)) ?? [UInt8](repeating: 0, count: 10)
        return UUIDv7(at: now, random: random).description
    }

    /// The answer of a program that is not configured: it says nothing of the configuration, which is the log's to tell.
    package static func unconfigured(using cryptography: any Cryptography, clock: Clock) -> Exchange {
        let now = clock.now()
        let requestID = newRequestID(at: now, using: cryptography)
        var log = LogLine(time: now, requestID: requestID)
        let problem = Problem(.notConfigured)
        log.reason = "not_configured"
        return Exchange(response: problem.response(in: .spanish, requestID: requestID), log: log)
    }

    /// Lets lines about one person be found together without naming the person: 64 bits of SHA-256.
    private func subjectHash(_ subject: String) -> String {
        let digest = cryptography.sha256(Array(subject.utf8)[...])
        return digest[..<8].map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}

/// A response, and what the log is to say of it.
package struct Exchange {
    package var response: Response
    package var log: LogLine
}

/// The clocks, handed in: the centre reads none.
package struct Clock: Sendable {
    package var now: @Sendable () -> UnixTime
    /// Milliseconds from any fixed point, never set back.
    package var monotonicMilliseconds: @Sendable () -> Double

    package init(now: @escaping @Sendable () -> UnixTime, monotonicMilliseconds: @escaping @Sendable () -> Double) {
        self.now = now
        self.monotonicMilliseconds = monotonicMilliseconds
    }
}
