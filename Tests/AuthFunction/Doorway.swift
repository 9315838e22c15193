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

    private let function: AuthFunction
    private let basePath: String

    init(
        keys: FixedKeys = TokenForge.keys, users: any UserRepository = MemoryUserStore(), requiresNonce: Bool = false,
        lookup: KeyLookup? = nil, basePath: String = ""
    ) {
        let cryptography = TokenForge.cryptography
        guard let policy = TokenPolicy(audiences: [TokenForge.audience], requiresNonce: requiresNonce) else {
            preconditionFailure()
        }
        let issuer = TokenIssuer(
            issuer: "https://api.finnova.example", audience: "finnova-api", accessTokenSeconds: 900,
            refreshTokenSeconds: 2_592_000, signingKey: Self.signingKeys.current, cryptography: cryptography)
        function = AuthFunction(
            signIn: SignIn(
                verifier: AppleTokenVerifier(policy: policy, cryptography: cryptography), keys: keys, users: users,
                issuer: issuer, cryptography: cryptography),
            publicKeys: Self.signingKeys.publicKeys, cryptography: cryptography, clock: Self.clock,
            keyLookup: { lookup })
        self.basePath = basePath
    }

    static var clock: Clock {
        let milliseconds = Mutex(0.0)
        return Clock(
            now: { TokenForge.now },
            monotonicMilliseconds: {
                milliseconds.withLock {
                    $0 += 1.25
                    return $0
                }
            })
    }

    func answer(event: [UInt8]) throws -> Answer {
        try answer(to: Event(event[...], basePath: basePath).request)
    }

    func answer(to request: Result<Request, Failure>) throws -> Answer {
        try Answer(function.respond(to: request))
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
}

/// A response as the runtime reads it, and the line that the log got.
struct Answer {
    let status: Int
    let headers: JSON.Object
    let body: String
    let log: JSON
    let eventText: String

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
}

/// A store that fails as it is told to.
struct FailingUsers: UserRepository {
    let error: StoreError

    func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session) {
        throw error
    }
}
