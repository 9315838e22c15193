internal import Accounts
internal import AppleID
internal import AuthFunction
internal import CurlHTTP
internal import JOSE
internal import KeyCache
internal import OpenSSLCrypto
internal import UserStores

/// The rooms, joined: what serves requests under one configuration, or says to each that there is none.
struct Service {
    private let rooms: Rooms?
    let basePath: String

    /// Never fails: a program that is not configured answers 500 and tells its log why.
    static func start(
        _ environment: Environment = System.environment(), deadline: Deadline = Deadline()
    ) -> Service {
        do throws(Configuration.Refusal) {
            let rooms = try Rooms(environment, deadline: deadline)
            return Service(rooms: rooms, basePath: rooms.configuration.basePath)
        } catch {
            Report.logConfiguration(error.problems)
            return Service(rooms: nil, basePath: "")
        }
    }

    var exitStatus: Int32 {
        rooms == nil ? ExitStatus.configuration : ExitStatus.success
    }

    func respond(to request: Result<Request, Failure>) -> Exchange {
        guard let rooms else {
            return AuthFunction.unconfigured(using: OpenSSLCryptography(), clock: System.clock)
        }
        return rooms.function.respond(to: request)
    }

    /// Whether `afterResponse` has anything to do that takes time.
    func hasWork(after errands: [Errand]) -> Bool {
        guard let rooms else { return false }
        return rooms.keyCache.wantsRefresh || (rooms.errands != nil && !errands.isEmpty)
    }

    /// What may take time and is no business of the client: refreshing keys that are usable but no longer fresh, and what is
    /// left to do at Apple.
    func afterResponse(_ errands: [Errand]) {
        guard let rooms else { return }
        rooms.keyCache.refreshIfStale()
        rooms.errands?.carryOut(errands)
        Report.logKeyCache(rooms.keyCache.takeReport().notes.map(\.description))
    }

    /// Before the process forks.
    func letGo() { rooms?.store.close() }
}

/// Every room under one configuration. Nothing is opened, fetched or loaded before a request needs it.
final class Rooms {
    let configuration: Configuration
    let cryptography: any Cryptography
    let keyCache: KeyCache
    let store: any UserStore
    /// Nil where nothing is ever asked of Apple's server API.
    let errands: Errands?
    let function: AuthFunction

    init(_ environment: Environment, deadline: Deadline = Deadline()) throws(Configuration.Refusal) {
        let cryptography = OpenSSLCryptography()
        var opened: (any UserStore)?
        let configuration = try Configuration(
            environment, userID: System.userID, using: cryptography,
            judgedBy: EdgeJudgement(
                keysURL: AppleHTTP.fault,
                keyCache: { KeyCache.canBe(at: $0) ? nil : ("names no file", "set it to a path") },
                store: { settings in
                    do throws(StoreConfigurationError) {
                        opened = try UserStores.open(settings)
                        return nil
                    } catch {
                        return ("cannot be used", error.description)
                    }
                }))
        let keys = AppleKeys(configuration, deadline: deadline)
        let keyCache = KeyCache(
            path: configuration.keyCachePath, url: configuration.keysURL, now: System.now, fetch: keys.fetch)
        // There is no configuration whose store and cache were not judged good.
        guard let store = opened, let keyCache else { preconditionFailure() }
        self.configuration = configuration
        self.cryptography = cryptography
        self.keyCache = keyCache
        self.store = store
        errands = configuration.accountLife.server.map { settings in
            Errands(
                AppleAPI(
                    settings, http: AppleHTTP(configuration, deadline: deadline), cryptography: cryptography),
                configuration: configuration, store: store, appleKeys: keyCache, cryptography: cryptography)
        }
        function = AuthFunction(
            endpoints: Endpoints(configuration, appleKeys: keyCache, store: store, cryptography: cryptography),
            cryptography: cryptography, clock: System.clock, keyLookup: { KeyLookup(keyCache.takeReport()) })
    }
}

extension Endpoints {
    /// The use cases under one configuration.
    init(
        _ configuration: Configuration, appleKeys: any AppleKeySource, store: any UserStore,
        cryptography: any Cryptography
    ) {
        let keys = configuration.signingKeys
        let issuer = TokenIssuer(
            issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
            accessTokenSeconds: configuration.accessTokenSeconds, signingKey: keys.current, cryptography: cryptography)
        let verifier = AppleTokenVerifier(policy: configuration.policy, cryptography: cryptography)
        let signIn = SignIn(
            verifier: verifier,
            appleKeys: appleKeys, users: store, issuer: issuer, policy: configuration.signInPolicy, keys: keys,
            cryptography: cryptography)
        let sessions = Sessions(
            users: store, issuer: issuer,
            rotation: RefreshRotation(
                policy: configuration.signInPolicy.sessions, keys: keys, cryptography: cryptography),
            verifier: AccessTokenVerifier(
                issuer: configuration.tokenIssuer, audience: configuration.tokenAudience, keys: keys.publicKeys,
                cryptography: cryptography),
            cryptography: cryptography)
        let limiter = RateLimiter(
            limits: configuration.rateLimits, counter: store, secret: { keys.sessionKey(using: cryptography) },
            cryptography: cryptography)
        let life = configuration.accountLife
        let lifeEndpoint = AccountLifeEndpoint(
            deletion: life.deletionSeconds.map {
                AccountDeletion(
                    maximumSessionSeconds: $0, users: store, sessions: sessions, cryptography: cryptography)
            },
            notifications: life.takesNotifications
                ? AppleNotifications(
                    verifier: verifier, appleKeys: appleKeys, users: store, cryptography: cryptography) : nil,
            exchangesCodes: life.server != nil)
        self.init(
            signIn: signIn, sessions: sessions, life: lifeEndpoint,
            web: configuration.web.map { WebSignIn(client: $0, signIn: signIn) }, limiter: limiter,
            trustedProxies: configuration.trustedProxies, publicKeys: keys.publicKeys, cryptography: cryptography)
    }
}

extension KeyLookup {
    /// The cache's own words for the log; nil when no keys were asked for.
    init?(_ report: KeyCacheReport) {
        guard let outcome = report.outcome else { return nil }
        self.init(outcome: outcome.rawValue, notes: report.notes.map(\.description))
    }
}
