import Accounts
import AppleID
import JOSE
import TestSupport
import UserStores

/// The use case over real cryptography, forged tokens and a store in memory.
final class SignInBench {
    static let signingKey = TokenForge.newKey("SIGNING001", for: .es256)

    let users = RecordingUsers()
    private let keys: FixedKeys

    init(keys: FixedKeys = TokenForge.keys) {
        self.keys = keys
    }

    private var useCase: SignIn {
        let cryptography = TokenForge.cryptography
        guard let policy = TokenPolicy(audiences: [TokenForge.audience, "com.finnova.web"]) else {
            preconditionFailure()
        }
        return SignIn(
            verifier: AppleTokenVerifier(policy: policy, cryptography: cryptography), keys: keys, users: users,
            issuer: TokenIssuer(
                issuer: "https://api.finnova.example", audience: "finnova-api", accessTokenSeconds: 900,
                refreshTokenSeconds: 2_592_000, signingKey: Self.signingKey, cryptography: cryptography),
            cryptography: cryptography)
    }

    @discardableResult
    func signIn(
        _ forge: TokenForge = TokenForge(), nonce: String? = nil, device: JSON = ["model": "iPhone"],
        name: String? = nil, email: String? = nil, at now: UnixTime = TokenForge.now
    ) throws -> SignedIn {
        try signIn(token: forge.token, nonce: nonce, device: device, name: name, email: email, at: now)
    }

    @discardableResult
    func signIn(
        token: String, nonce: String? = nil, device: JSON = ["model": "iPhone"], name: String? = nil,
        email: String? = nil, at now: UnixTime = TokenForge.now
    ) throws -> SignedIn {
        try useCase(
            SignIn.Request(
                identityToken: Array(token.utf8)[...], nonce: nonce, deviceInfo: try DeviceInfo(device),
                fullName: name, email: email),
            at: now)
    }
}

extension TokenForge {
    var withoutEmail: TokenForge {
        with(["email": JSON?.none, "email_verified": JSON?.none, "is_private_email": JSON?.none])
    }
}

/// A store in memory that remembers what it was asked to keep.
final class RecordingUsers: UserRepository {
    private let store = MemoryUserStore()
    private(set) var accounts: [String: Account] = [:]
    private(set) var sessions: [Session] = []

    func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session) {
        let result = try store.signIn(candidate, opening: session)
        accounts[result.account.appleSubject] = result.account
        sessions.append(result.session)
        return result
    }
}
