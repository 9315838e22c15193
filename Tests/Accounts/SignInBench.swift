import Accounts
import AppleID
import JOSE
import TestSupport
import UserStores

/// The use cases over real cryptography, forged tokens and a store in memory.
final class SignInBench {
    static let signingKey = TokenForge.newKey("SIGNING001", for: .es256)
    static let nextKey = TokenForge.newKey("SIGNING002", for: .es256)
    static let issuer = "https://api.finnova.example"
    static let audience = "finnova-api"
    static let userAgent = "Finnova/1.4"
    static let origin = AuditEntry.Origin(requestID: "request-1", sourceAddress: "192.0.2.7")

    let users = RecordingUsers()
    let cryptography: any Cryptography
    var signingKeys: SigningKeySet
    var policy: SessionPolicy
    var isOneTime = false
    var codes: CodeMismatch?
    var linksVerifiedEmail = false
    private let keys: FixedKeys

    init(
        keys: FixedKeys = TokenForge.keys, policy: SessionPolicy = SessionPolicy(), signingKey: SigningKey? = nil,
        cryptography: any Cryptography = TokenForge.cryptography
    ) {
        self.keys = keys
        self.policy = policy
        self.cryptography = cryptography
        signingKeys = SigningKeySet(
            current: signingKey ?? Self.signingKey, next: Self.nextKey, at: TokenForge.now.adding(seconds: -86_400))
    }

    private var issuer: TokenIssuer {
        TokenIssuer(
            issuer: Self.issuer, audience: Self.audience, accessTokenSeconds: 900, signingKey: signingKeys.current,
            cryptography: cryptography)
    }

    private var useCase: SignIn {
        guard let policy = TokenPolicy(audiences: [TokenForge.audience, "com.finnova.web"]) else {
            preconditionFailure()
        }
        return SignIn(
            verifier: AppleTokenVerifier(policy: policy, cryptography: cryptography), appleKeys: keys, users: users,
            issuer: issuer,
            policy: SignInPolicy(
                sessions: self.policy, isOneTime: isOneTime, linksVerifiedEmail: linksVerifiedEmail, codes: codes),
            keys: signingKeys, cryptography: cryptography)
    }

    var rotation: RefreshRotation {
        RefreshRotation(policy: policy, keys: signingKeys, cryptography: cryptography)
    }

    var sessions: Sessions {
        Sessions(
            users: users, issuer: issuer, rotation: rotation,
            verifier: AccessTokenVerifier(
                issuer: Self.issuer, audience: Self.audience, keys: signingKeys.publicKeys, cryptography: cryptography),
            cryptography: cryptography)
    }

    @discardableResult
    func signIn(
        _ forge: TokenForge = TokenForge(), nonce: String? = nil, code: String? = nil,
        device: JSON = ["model": "iPhone"],
        name: String? = nil, email: String? = nil, idempotencyKey: String? = nil, at now: UnixTime = TokenForge.now
    ) throws -> SignedIn {
        try signIn(
            token: forge.token, nonce: nonce, code: code, device: device, name: name, email: email,
            idempotencyKey: idempotencyKey, at: now)
    }

    @discardableResult
    func signIn(
        token: String, nonce: String? = nil, code: String? = nil, device: JSON = ["model": "iPhone"],
        name: String? = nil,
        email: String? = nil, idempotencyKey: String? = nil, at now: UnixTime = TokenForge.now
    ) throws -> SignedIn {
        try useCase(
            SignIn.Request(
                identityToken: Array(token.utf8)[...], nonce: nonce, code: code.map { SecretBytes(Array($0.utf8)) },
                client: SignIn.Client(
                    deviceInfo: try DeviceInfo(device), fullName: name, email: email, idempotencyKey: idempotencyKey,
                    userAgent: Self.userAgent)),
            origin: Self.origin, at: now)
    }

    /// The refresh token that takes the place of another.
    func refresh(_ token: String, at now: UnixTime = TokenForge.now) throws -> String {
        try sessions.refresh(token, origin: Self.origin, at: now).tokens.refreshToken
    }

    /// One step of the rotation of our signing keys, as if the announcement had passed.
    func rotateKeys(at now: UnixTime = TokenForge.now) {
        let announced = signingKeys.entries.map(\.since).max() ?? now
        _ = signingKeys.rotate(
            next: TokenForge.newKey("NEW\(signingKeys.entries.count)-\(announced.milliseconds)", for: .es256),
            at: announced.adding(seconds: SigningKeySet.announcementSeconds + 1000), accessTokenSeconds: 900)
    }

    /// What the audit says of an account: each event with its reason.
    func audit(_ account: Account) throws -> [AuditEntry.Event] {
        try users.audit(of: account.id).map(\.event)
    }

    func disable(_ account: Account, at now: UnixTime = TokenForge.now) throws {
        _ = try users.change(account: .id(account.id), once: nil, at: now) { account, sessions in
            var changed = account
            changed.disabledAt = now
            return .update(
                changed, ending: sessions,
                audit: [AuditEntry(time: now, event: .accountDisabled, accountID: account.id, origin: Self.origin)])
        }
    }
}

extension TokenForge {
    var withoutEmail: TokenForge {
        with(["email": JSON?.none, "email_verified": JSON?.none, "is_private_email": JSON?.none])
    }
}

/// A store in memory that remembers what sign-ins asked it to keep.
final class RecordingUsers: UserRepository {
    private let store = MemoryUserStore()
    private(set) var accounts: [String: Account] = [:]
    private(set) var sessions: [Session] = []
    private(set) var receipts: [Receipt] = []
    private(set) var lookups: [AppleLookup] = []
    private(set) var marks: [Mark] = []
    /// Shows every session's account as disabled: what a refresh sees when an operator's command comes in between.
    var showsAccountsDisabled = false
    /// What another process does just before the next change of an account.
    var beforeChange: ((MemoryUserStore) throws(StoreError) -> Void)?

    func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        lookups.append(lookup)
        self.marks += marks
        var opened: Opening?
        let outcome = try store.signIn(lookup, since: departure, repeating: repetition, once: marks, at: now) { known in
            opened = open(known)
            return opened
        }
        if case .done = outcome, let opened {
            accounts[opened.account.appleSubject ?? ""] = opened.account
            if let session = opened.session { sessions.append(session) }
            if let receipt = opened.receipt { receipts.append(receipt) }
        }
        return outcome
    }

    private func shown(_ account: Account) -> Account {
        var account = account
        if showsAccountsDisabled { account.disabledAt = account.createdAt }
        return account
    }

    func account(_ id: UUIDv7) throws(StoreError) -> Account? { try store.account(id) }

    func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? {
        try store.session(id).map { ($0, shown($1)) }
    }

    func change(session id: UUIDv7, _ decide: (Session, Account) -> SessionChange) throws(StoreError) {
        try store.change(session: id) { decide($0, shown($1)) }
    }

    func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] {
        try store.sessions(of: accountID, at: time)
    }

    func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime, _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        if let before = beforeChange {
            beforeChange = nil
            try before(store)
        }
        return try store.change(account: key, once: mark, at: now, decide)
    }

    func keep(_ grant: AppleGrant) throws(StoreError) { try store.keep(grant) }
    func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] { try store.grants(of: accountID) }
    func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) { try store.replace(old, by: new) }
    func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] {
        try store.takeRevocations(due: now, limit: limit)
    }
    func finish(_ revocation: Revocation) throws(StoreError) { try store.finish(revocation) }
    func revocations(limit: Int) throws(StoreError) -> [Revocation] { try store.revocations(limit: limit) }

    func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] { try store.audit(of: accountID) }

    func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int {
        try store.endSessions(of: accountID, except: kept, audit: audit)
    }
}
