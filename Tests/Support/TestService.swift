import Accounts
import AppleID
import JOSE
import OpenSSLCrypto

/// Sign-in and sessions as `auth-apple` joins them, over a store of the test's choice.
///
/// Every process has the same keys, so that one goes on where another was killed. The grace is long: on a machine under load
/// the last of many processes that begin at once comes late.
package struct TestService {
    private static let cryptography = OpenSSLCryptography()
    package static let audience = "com.finnova.app"

    /// The private key of RFC 7515, appendix A.3.
    package static let keys: SigningKeySet = {
        let jwk = """
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
            """
        do {
            return try SigningKeySet(parsing: Array(jwk.utf8)[...], using: cryptography)
        } catch {
            fatalError("the key of RFC 7515 cannot be read: \(error)")
        }
    }()

    package let users: any UserRepository
    package let policy: SessionPolicy

    package init(users: any UserRepository, policy: SessionPolicy = SessionPolicy(graceSeconds: 120)) {
        self.users = users
        self.policy = policy
    }

    private var issuer: TokenIssuer {
        TokenIssuer(
            issuer: "https://auth.example", audience: "https://api.example", accessTokenSeconds: 900,
            signingKey: Self.keys.current, cryptography: Self.cryptography)
    }

    package var rotation: RefreshRotation {
        RefreshRotation(policy: policy, keys: Self.keys, cryptography: Self.cryptography)
    }

    package var sessions: Sessions {
        Sessions(
            users: users, issuer: issuer, rotation: rotation,
            verifier: AccessTokenVerifier(
                issuer: "https://auth.example", audience: "https://api.example", keys: Self.keys.publicKeys,
                cryptography: Self.cryptography),
            cryptography: Self.cryptography)
    }

    package func signIn(appleKeys: any AppleKeySource) -> SignIn {
        guard let policy = TokenPolicy(audiences: [Self.audience]) else { preconditionFailure() }
        return SignIn(
            verifier: AppleTokenVerifier(policy: policy, cryptography: Self.cryptography), appleKeys: appleKeys,
            users: users, issuer: issuer, policy: SignInPolicy(sessions: self.policy), keys: Self.keys,
            cryptography: Self.cryptography)
    }

    /// The web flow, for a Services ID that is no audience of the native sign-in.
    package func webSignIn(appleKeys: any AppleKeySource) -> WebSignIn {
        WebSignIn(client: Self.webClient, signIn: signIn(appleKeys: appleKeys))
    }

    package static let webClient = WebClient(
        id: "com.finnova.web", callbackURL: "https://auth.example/auth/apple/callback",
        authorizeURL: "https://appleid.example/auth/authorize", returnURLs: ["com.finnova.app:/signed-in"])

    /// What a sign-in leaves, without a token of Apple's: the account of `subject`, a session, its first refresh token, and
    /// the audit of it. `inside` runs in the middle of the transaction.
    package func open(
        _ subject: String, profile: Profile = Profile(), device: JSON = .object([:]), at now: UnixTime,
        inside: () -> Void = {}
    ) throws -> (account: Account, isNew: Bool, session: Session, token: RefreshToken) {
        let random = try Self.cryptography.randomBytes(84)
        let sessionID = UUIDv7(at: now, random: Array(random[10..<20]))
        let salt = Array(random[20..<52])
        let token = RefreshToken(
            sessionID: sessionID, secret: SecretBytes(Array(random[52...])), salt: salt, using: Self.cryptography)
        let candidate = Account(
            id: UUIDv7(at: now, random: Array(random[..<10])), appleSubject: subject, profile: profile,
            createdAt: now, updatedAt: now)
        var opened: Session?
        let made = try users.signIn(candidate) { account, isNew in
            inside()
            let session = Session(
                id: sessionID, accountID: account.id, clientID: Self.audience, deviceInfo: DeviceInfo(stored: device),
                createdAt: now, endsAt: now.adding(seconds: policy.sessionSeconds),
                refresh: RefreshState(
                    salt: salt, digest: token.digest(using: Self.cryptography),
                    expiresAt: now.adding(seconds: policy.refreshTokenSeconds)),
                lastUsedAt: now)
            opened = session
            let events: [AuditEntry.Event] = isNew ? [.accountCreated, .signedIn] : [.signedIn]
            return Opening(
                account: account, session: session,
                audit: events.map { event in
                    AuditEntry(
                        time: now, event: event, accountID: account.id,
                        sessionID: event == .signedIn ? session.id : nil, origin: Self.origin)
                })
        }
        guard made.isDone, let account = made.account, let opened else {
            throw StoreError.unusable(reason: "the sign-in was not carried out")
        }
        return (account, made.isNew, opened, token)
    }

    package static let origin = AuditEntry.Origin(requestID: "request-1", sourceAddress: "192.0.2.7")
}
