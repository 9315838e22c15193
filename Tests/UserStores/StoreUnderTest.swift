import Accounts
import AppleID
import Foundation
import JOSE
import Testing
import UserStores

/// A store that must pass the contract. A new one adds one line to `all`.
struct StoreUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether other processes see what one wrote, and whether it outlives them.
    let isShared: Bool
    /// Runs its body with the URL of an empty store, and removes the store.
    let withURL: @Sendable ((String) throws -> Void) throws -> Void

    var testDescription: String { name }

    static let all: [StoreUnderTest] = {
        var all = [StoreUnderTest(name: "memory", isShared: false) { try $0("memory:") }]
        #if SQLite
        all.append(
            StoreUnderTest(name: "SQLite", isShared: true) { body in
                try withFolder { try body("sqlite:\($0)/state/accounts.db") }
            })
        #endif
        return all
    }()

    static let shared = all.filter(\.isShared)

    func withStore(_ body: (any UserStore) throws -> Void) throws {
        try withURL { try body(UserStores.open($0)) }
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

func login(of account: Account, on device: JSON = .object([:]), at time: UnixTime = noon, days: Int64 = 30) -> Session {
    Session(
        id: UUIDv7(at: time, random: randomBytes(10)), accountID: account.id, clientID: "com.example.app",
        deviceInfo: DeviceInfo(stored: device),
        refreshDigest: randomBytes(32), createdAt: time, expiresAt: time.adding(seconds: days * 86400))
}
