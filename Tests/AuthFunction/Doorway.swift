import Accounts
import AppleID
import AuthFunction
import JOSE
import Synchronization
import TestSupport
import UserStores

/// The function from event bytes to response bytes, over real cryptography, forged tokens and a store in memory.
final class Doorway {
    static let signingKeys = SigningKeySet(
        current: TokenForge.newKey("SIGNING001", for: .es256), next: TokenForge.newKey("SIGNING002", for: .es256),
        at: TokenForge.now)

    let users: any UserRepository
    private let function: AuthFunction
    private let basePath: String
    private let time: TestTime
    /// What the answers left to be done at Apple.
    private(set) var errands: [Errand] = []

    init(
        keys: FixedKeys = TokenForge.keys, users: any UserRepository = MemoryUserStore(), requiresNonce: Bool = false,
        lookup: KeyLookup? = nil, basePath: String = "", limits: [RateLimiter.Subject: RateLimit] = [:],
        counter: any AttemptCounter = MemoryUserStore(), trustedProxies: Int = 0,
        sessionPolicy: SessionPolicy = SessionPolicy(), isOneTime: Bool = false, codes: CodeMismatch? = nil,
        deletionSeconds: Int64? = nil, takesNotifications: Bool = false, web: WebClient? = nil,
        signingKeys keySet: SigningKeySet = Doorway.signingKeys
    ) {
        let cryptography = TokenForge.cryptography
        let audiences = [TokenForge.audience] + (web.map { [$0.id] } ?? [])
        guard let policy = TokenPolicy(audiences: audiences, requiresNonce: requiresNonce) else {
            preconditionFailure()
        }
        let issuer = TokenIssuer(
            issuer: "https://api.finnova.example", audience: "finnova-api", accessTokenSeconds: 900,
            signingKey: keySet.current, cryptography: cryptography)
        let verifier = AppleTokenVerifier(policy: policy, cryptography: cryptography)
        let sessions = Sessions(
            users: users, issuer: issuer,
            rotation: RefreshRotation(policy: sessionPolicy, keys: keySet, cryptography: cryptography),
            verifier: AccessTokenVerifier(
                issuer: "https://api.finnova.example", audience: "finnova-api", keys: keySet.publicKeys,
                cryptography: cryptography),
            cryptography: cryptography)
        let signIn = SignIn(
            verifier: verifier, appleKeys: keys, users: users, issuer: issuer,
            policy: SignInPolicy(sessions: sessionPolicy, isOneTime: isOneTime, codes: codes), keys: keySet,
            cryptography: cryptography)
        let endpoints = Endpoints(
            signIn: signIn, sessions: sessions,
            life: AccountLifeEndpoint(
                deletion: deletionSeconds.map {
                    AccountDeletion(
                        maximumSessionSeconds: $0, users: users, sessions: sessions, cryptography: cryptography)
                },
                notifications: takesNotifications
                    ? AppleNotifications(verifier: verifier, appleKeys: keys, users: users, cryptography: cryptography)
                    : nil,
                exchangesCodes: codes != nil),
            web: web.map { WebSignIn(client: $0, signIn: signIn) },
            limiter: RateLimiter(
                limits: limits, counter: counter, secret: { keySet.sessionKey(using: cryptography) },
                cryptography: cryptography),
            trustedProxies: trustedProxies, publicKeys: keySet.publicKeys, cryptography: cryptography)
        let time = TestTime()
        function = AuthFunction(
            endpoints: endpoints, cryptography: cryptography, clock: time.clock, keyLookup: { lookup })
        self.users = users
        self.basePath = basePath
        self.time = time
    }

    static var clock: Clock { TestTime().clock }

    /// What the function's clock shows.
    var now: UnixTime {
        get { time.now }
        set { time.now = newValue }
    }

    func answer(event: [UInt8]) throws -> Answer {
        try answer(to: Event(event[...], basePath: basePath).request)
    }

    func answer(to request: Result<Request, Failure>) throws -> Answer {
        try Answer(respond(to: request))
    }

    func respond(to request: Result<Request, Failure>) -> Exchange {
        let exchange = function.respond(to: request)
        errands += exchange.errands
        return exchange
    }

    func answer(
        _ method: String, _ path: String, headers: JSON? = ["content-type": "application/json"], body: String? = nil
    ) throws -> Answer {
        var event: JSON.Object = ["method": .string(method), "path": .string(path)]
        event["headers"] = headers
        event["body"] = body.map { .string($0) }
        return try answer(event: JSON.object(event).serialized())
    }

    func post(
        _ body: String, headers: JSON? = ["content-type": "application/json"]
    ) throws -> Answer {
        try answer("POST", "/auth/apple", headers: headers, body: body)
    }

    /// A good sign-in with some members changed; nil removes one.
    func signIn(_ changes: [String: JSON?] = [:], headers: JSON? = ["content-type": "application/json"]) throws
        -> Answer
    {
        try post(Self.body(changes).text, headers: headers)
    }

    static func body(_ changes: [String: JSON?] = [:]) -> JSON {
        var body: JSON.Object = [
            "identity_token": .string(TokenForge().token), "deviceInfo": ["model": "iPhone"],
        ]
        for (name, value) in changes { body[name] = value }
        return .object(body)
    }

    /// A refresh, or a logout, with a refresh token.
    func send(_ path: String, refreshToken: String) throws -> Answer {
        try answer("POST", path, body: (["refresh_token": .string(refreshToken)] as JSON).text)
    }

    /// A request with an access token.
    func send(_ method: String, _ path: String, accessToken: String) throws -> Answer {
        try answer(method, path, headers: ["authorization": .string("Bearer \(accessToken)")])
    }
}

/// A clock that stands still until it is set; the monotonic one takes a step at each look.
private final class TestTime: Sendable {
    private let wall = Mutex(TokenForge.now)
    private let milliseconds = Mutex(0.0)

    var now: UnixTime {
        get { wall.withLock { $0 } }
        set { wall.withLock { $0 = newValue } }
    }

    var clock: Clock {
        Clock(
            now: { self.now },
            monotonicMilliseconds: {
                self.milliseconds.withLock {
                    $0 += 1.25
                    return $0
                }
            })
    }
}

/// A response as the runtime reads it, and the line that the log got.
struct Answer {
    let status: Int
    let headers: JSON.Object
    let body: String
    let log: JSON
    let eventText: String
    /// What is to be done after the answer.
    let errands: [Errand]

    init(_ exchange: Exchange) throws {
        let bytes = Event(.notFound).bytes(of: exchange.response)
        guard bytes.last == 0x0A, bytes.count(where: { $0 == 0x0A }) == 1 else { throw Malformed() }
        let event = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20))
        guard let status = event["statusCode"]?.integer, let headers = event["headers"]?.object,
            let body = event["body"]?.string, event["isBase64Encoded"] == .bool(false),
            event.object?.members.count == 4
        else { throw Malformed() }
        self.status = Int(status)
        self.headers = headers
        self.body = body
        log = exchange.log.json
        errands = exchange.errands
        eventText = String(decoding: bytes, as: UTF8.self)
    }

    struct Malformed: Error {}

    /// The body as JSON; JSON's null where there is none.
    var json: JSON { (try? JSON(parsing: Array(body.utf8), limits: JSON.Limits(bytes: 1 << 20))) ?? .null }

    var code: String? { json["code"]?.string }

    /// `field: reason` of each error, in their order.
    var errors: [String] {
        (json["errors"]?.array ?? []).map { "\($0["field"]?.string ?? "?"): \($0["reason"]?.string ?? "?")" }
    }

    /// The tokens of a sign-in or a refresh.
    var accessToken: String { json["access_token"]?.string ?? "" }
    var refreshToken: String { json["refresh_token"]?.string ?? "" }
    var sessionID: String { json["session"]?["id"]?.string ?? "" }
    var accountID: UUIDv7? { json["user"]?["id"]?.string.flatMap { UUIDv7($0) } }
}
