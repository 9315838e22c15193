package import Accounts
package import AppleID
package import JOSE

/// Everything that is configured, checked as a whole before anything is served.
package struct Configuration: Sendable {
    package enum Mode: String, Sendable {
        case production
        /// Loopback http and file URLs are allowed for Apple's endpoints, and the store may be `memory:`.
        case development
    }

    package let mode: Mode
    package let policy: TokenPolicy
    package let keysURL: String
    /// PEM file of the authorities to trust in place of the system's; nil for the system's.
    package let caBundle: String?
    package let keyCachePath: String
    package let storeURL: String
    package let signingKeys: SigningKeySet
    package let tokenIssuer: String
    package let tokenAudience: String
    package let accessTokenSeconds: Int64
    package let signInPolicy: SignInPolicy
    package let accountLife: AccountLife
    /// Nil where the web flow is off.
    package let web: WebClient?
    /// What is limited, and how; empty for no limits.
    package let rateLimits: [RateLimiter.Subject: RateLimit]
    package let trustedProxies: Int
    package let basePath: String

    /// The problems that keep the program from serving, all of them at once.
    package struct Refusal: Error, Hashable {
        package var problems: [ConfigurationProblem]

        package init(problems: [ConfigurationProblem]) {
            self.problems = problems
        }
    }

    /// - Parameters:
    ///   - userID: of the process, for the name of a folder of its own in `/tmp`.
    ///   - edges: what the rooms at the edge say of the values that are theirs.
    package init(
        _ environment: Environment, userID: UInt32, using cryptography: any Cryptography, judgedBy edges: EdgeJudgement
    ) throws(Refusal) {
        var reader = ConfigurationReader(environment: environment)
        let mode = reader.mode()
        let policy = TokenPolicy(
            issuers: reader.issuers(),
            audiences: reader.list(
                "AUDIENCES", required: "set it to your app's Bundle ID, such as com.example.app (several with commas)"),
            leewaySeconds: reader.number("LEEWAY_SECONDS", 0...300, default: 60),
            maximumAgeSeconds: reader.number("MAX_TOKEN_AGE_SECONDS", 60...604_800, default: 86_400),
            requiresNonce: reader.flag("REQUIRE_NONCE"))
        let keysURL = reader.appleURL(
            "KEYS_URL", default: "https://appleid.apple.com/auth/keys", mode: mode, mayBeFile: true)
        reader.judge("KEYS_URL", edges.keysURL(keysURL, mode))
        let caBundle = reader.text("CA_BUNDLE")
        let keyCachePath = reader.text("KEY_CACHE") ?? reader.defaultKeyCache(userID: userID)
        reader.judge("KEY_CACHE", edges.keyCache(keyCachePath))
        let storeURL = reader.store(mode: mode)
        let accountQueries = reader.text("ACCOUNT_QUERIES")
        let linksVerifiedEmail = reader.flag("LINK_VERIFIED_EMAIL")
        if let storeURL {
            reader.judge(
                "STORE",
                edges.store(
                    StoreSettings(
                        url: storeURL, mode: mode, accountQueries: accountQueries,
                        linksVerifiedEmail: linksVerifiedEmail)))
        }
        let tokenIssuer = reader.required(
            "TOKEN_ISSUER", remedy: "set it to the URL that names you in your tokens' iss")
        let tokenAudience = reader.tokenAudience()
        let accessTokenSeconds = reader.number("ACCESS_TOKEN_SECONDS", 60...86_400, default: 900)
        let sessionPolicy = SessionPolicy(
            refreshTokenSeconds: reader.number("REFRESH_TOKEN_SECONDS", 3600...31_536_000, default: 2_592_000),
            sessionSeconds: reader.number("SESSION_SECONDS", 3600...315_360_000, default: 31_536_000),
            graceSeconds: reader.number("REFRESH_GRACE_SECONDS", 0...60, default: 10))
        let accountLife = reader.accountLife(mode: mode, using: cryptography, judgedBy: edges.keysURL)
        let signInPolicy = SignInPolicy(
            sessions: sessionPolicy, isOneTime: reader.flag("ONE_TIME_TOKENS"), linksVerifiedEmail: linksVerifiedEmail,
            codes: reader.codeMismatch(isExchanging: accountLife.server != nil))
        let web = reader.webClient(audiences: policy?.audiences ?? [], mode: mode)
        let rateLimits = reader.rateLimits()
        let trustedProxies = Int(reader.number("TRUSTED_PROXIES", 0...10, default: 0))
        let basePath = reader.basePath()
        let signingKeys = reader.signingKeys(using: cryptography)
        reader.environment.reportUnknown()

        let problems = reader.environment.problems
        guard problems.isEmpty, let policy, let signingKeys, let storeURL else { throw Refusal(problems: problems) }
        self.mode = mode
        self.policy = policy
        self.keysURL = keysURL
        self.caBundle = caBundle
        self.keyCachePath = keyCachePath
        self.storeURL = storeURL
        self.signingKeys = signingKeys
        self.tokenIssuer = tokenIssuer
        self.tokenAudience = tokenAudience
        self.accessTokenSeconds = accessTokenSeconds
        self.signInPolicy = signInPolicy
        self.accountLife = accountLife
        self.web = web
        self.rateLimits = rateLimits
        self.trustedProxies = trustedProxies
        self.basePath = basePath
    }
}
