import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import Testing
import UserStores

/// A store that must pass the contract. A new one adds one line to `all`.
struct StoreUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether other processes see what one wrote, and whether it outlives them.
    let isShared: Bool
    /// Whether one writer holds all of it, known accounts and unknown ones, and not only the rows that it reads.
    var isHeldWhole = false
    /// Whether nobody waits for another who writes, but decides again what was decided on something past.
    var isOptimistic = false
    /// How many rows are more than two of the batches in which a purge works.
    var bulk = 1200
    /// How long a process lives that is killed, in microseconds: long enough to have done something.
    var lives: ClosedRange<UInt32> = 20_000...300_000
    var kills = 110
    /// Runs its body with the URL of an empty store, and removes the store.
    let withURL: @Sendable ((String) throws -> Void) throws -> Void

    var testDescription: String { name }

    static let all: [StoreUnderTest] = {
        var all = [StoreUnderTest(name: "memory", isShared: false) { try $0("memory:") }]
        #if SQLite
        all.append(
            StoreUnderTest(name: "SQLite", isShared: true, isHeldWhole: true, lives: 5_000...60_000, kills: 300) {
                body in
                try withFolder { try body("sqlite:\($0)/state/accounts.db") }
            })
        #endif
        if DynamoDBServer.isInstalled {
            all.append(
                StoreUnderTest(
                    name: "DynamoDB", isShared: true, isOptimistic: true, bulk: 300, lives: 100_000...400_000,
                    kills: 120
                ) { body in
                    try DynamoDBServer.shared.withTable { try body($0) }
                })
        }
        #if PostgreSQL
        all.append(StoreUnderTest(name: "PostgreSQL", isShared: true) { try $0(PostgreSQLServer.shared.url()) })
        all.append(
            StoreUnderTest(name: "PostgreSQL behind PgBouncer", isShared: true) {
                try $0(PostgreSQLServer.pooler.url())
            })
        #endif
        return all
    }()

    static let waiting = shared.filter { !$0.isOptimistic }
    static let optimistic = shared.filter(\.isOptimistic)

    static let shared = all.filter(\.isShared)

    func withStore(_ body: (any UserStore) throws -> Void) throws {
        try withURL { try body(UserStores.open($0)) }
    }
}

extension UserStores {
    /// As in development, where DynamoDB may be asked on this machine.
    static func open(_ url: String) throws(StoreConfigurationError) -> any UserStore {
        try open(url, isDevelopment: true)
    }
}

/// A folder of its own under the system's temporary folder, 0700, removed at the end.
func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
}

let noon = UnixTime(seconds: 1_760_000_000)

func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255) }
}

func person(_ subject: String, _ profile: Profile = Profile(), at time: UnixTime = noon) -> Account {
    Account(
        id: UUIDv7(at: time, random: randomBytes(10)), appleSubject: subject, profile: profile, createdAt: time,
        updatedAt: time)
}

func login(
    of account: Account, on device: JSON = .object([:]), userAgent: String? = nil, at time: UnixTime = noon,
    days: Int64 = 30
) -> Session {
    Session(
        id: UUIDv7(at: time, random: randomBytes(10)), accountID: account.id, clientID: "com.example.app",
        deviceInfo: DeviceInfo(stored: device), userAgent: userAgent, createdAt: time,
        endsAt: time.adding(seconds: 365 * 86400),
        refresh: RefreshState(
            salt: randomBytes(32), digest: randomBytes(32), expiresAt: time.adding(seconds: days * 86400)),
        lastUsedAt: time)
}

let here = AuditEntry.Origin(requestID: "request-1", sourceAddress: "192.0.2.1")

/// What the audit says of one thing that happened.
func entry(
    _ event: AuditEntry.Event, _ account: UUIDv7, session: UUIDv7? = nil, reason: String? = nil,
    at time: UnixTime = noon, from origin: AuditEntry.Origin = here
) -> AuditEntry {
    AuditEntry(time: time, event: event, accountID: account, sessionID: session, reason: reason, origin: origin)
}

extension UserRepository {
    /// Signs in with the session that `session` makes, and writes the audit as the use case does.
    func signIn(
        _ candidate: Account, _ session: (Account) -> Session
    ) throws -> (account: Account, isNew: Bool, session: Session) {
        var opened: Session?
        let made = try signIn(candidate) { account, isNew in
            let session = session(account)
            opened = session
            let created = isNew ? [entry(.accountCreated, account.id, at: candidate.updatedAt)] : []
            return Opening(
                account: account, session: session,
                audit: created + [entry(.signedIn, account.id, session: session.id, at: candidate.updatedAt)])
        }
        guard made.isDone, let account = made.account, let opened else {
            throw StoreError.unusable(reason: "the sign-in was not carried out")
        }
        return (account, made.isNew, opened)
    }

    @discardableResult
    func change(
        account id: UUIDv7, once mark: Mark? = nil, _ decide: (Account) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        try change(account: .id(id), once: mark, at: noon) { account, _ in decide(account) }
    }
}
