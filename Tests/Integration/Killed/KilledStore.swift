import Foundation
import TestSupport
import Testing

/// A store that outlives the processes that are killed on it, or get into other trouble.
struct KilledStore: Sendable, CustomTestStringConvertible {
    let name: String
    /// How many requests are killed in the ordinary run. `Tests/kills.sh` names another number, for every store.
    private let few: Int
    /// A file of the machine's own; the others are asked over a connection.
    var isFile: Bool { name == "SQLite" }
    /// By how many seconds a clock may be wrong at most, where the store looks at that: AWS believes a signature for five minutes.
    private(set) var clockTolerance: Int?
    /// Runs its body with the URL of an empty store, and removes the store.
    private let withURL: @Sendable (FunctionSite, (String) throws -> Void) throws -> Void

    var testDescription: String { name }

    /// Runs its body while the site has this store, which is empty and has its tables.
    func serve(_ site: FunctionSite, _ body: () throws -> Void) throws {
        site.environment["AWS_ACCESS_KEY_ID"] = DynamoDBServer.keyID
        site.environment["AWS_SECRET_ACCESS_KEY"] = DynamoDBServer.secret
        try withURL(site) { url in
            site.environment["AUTH_APPLE_STORE"] = url
            let migrated = try Ran([Self.program().path(), "store", "migrate"], environment: site.environment)
            try #require(migrated.status == 0, "\(migrated.text)")
            try body()
        }
    }

    var requests: Int { Self.asked ?? few }

    private static let environment = ProcessInfo.processInfo.environment

    /// What `Tests/kills.sh` asked for.
    static let asked = environment["AUTH_APPLE_KILLS"].flatMap { Int($0) }

    /// The program that is killed: the release, where `Tests/kills.sh` names it.
    static func program() throws -> URL {
        try environment["AUTH_APPLE_KILLED_PROGRAM"].map { URL(filePath: $0) } ?? Programs.built("auth-apple")
    }

    static let all: [KilledStore] = {
        var all: [KilledStore] = []
        #if SQLite
        all.append(
            KilledStore(name: "SQLite", few: 120) { site, body in
                try body("sqlite:\(site.folder.appending(path: "state/accounts.sqlite").path())")
            })
        #endif
        #if PostgreSQL
        all.append(KilledStore(name: "PostgreSQL", few: 60) { _, body in try body(PostgreSQLServer.shared.url()) })
        #endif
        if DynamoDBServer.isInstalled {
            all.append(
                KilledStore(name: "DynamoDB", few: 40, clockTolerance: 300) { _, body in
                    try DynamoDBServer.shared.withTable { try body($0) }
                })
        }
        return all
    }()
}
