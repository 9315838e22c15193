// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// Tests reach into C and into processes; they are not what strict memory safety protects.
let testSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// glibc's functions that check the size of what they write to.
let hardened: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

/// A room of the house: a module that other rooms of this package use.
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests in one folder of `Tests/`. They may use Foundation; `Sources/` may not.
func tests(_ folder: String, _ dependencies: [Target.Dependency], excluding excluded: [String] = []) -> Target {
    .testTarget(
        name: "\(folder)Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/\(folder)",
        exclude: excluded, swiftSettings: testSettings)
}

let package = Package(
    name: "auth-apple",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .executable(name: "auth-apple", targets: ["auth-apple"]),
        .executable(name: "apple-simulator", targets: ["apple-simulator"]),
        .executable(name: "xid", targets: ["xid-command"]),
        .library(name: "Xid", targets: ["Xid"]),
    ],
    traits: [
        .default(enabledTraits: ["SQLite"]),
        .trait(name: "SQLite", description: "Accounts in a SQLite file (needs libsqlite3-dev)"),
        .trait(name: "PostgreSQL", description: "Accounts in PostgreSQL (needs libpq-dev)"),
    ],
    targets: [
        // The centre: pure. These three import nothing of the system.
        room("JOSE"),
        room("AppleID", ["JOSE"]),
        room("Accounts", ["AppleID", "JOSE"]),

        // The edge: one wrapper a library.
        .target(name: "OpenSSLShim", cSettings: hardened, linkerSettings: [.linkedLibrary("crypto")]),
        room("OpenSSLCrypto", ["JOSE", "OpenSSLShim"]),
        .target(name: "CurlShim", cSettings: hardened, linkerSettings: [.linkedLibrary("dl")]),
        room("CurlHTTP", ["CurlShim"]),
        room("KeyCache", ["AppleID", "JOSE"]),
        .systemLibrary(name: "SQLiteShim"),
        .target(
            name: "PostgreSQLShim", cSettings: [.define("POSTGRESQL_SHIM", .when(traits: ["PostgreSQL"]))],
            linkerSettings: [.linkedLibrary("dl")]),
        room(
            "UserStores",
            [
                "Accounts", "AppleID", "CurlHTTP", "JOSE",
                .target(name: "SQLiteShim", condition: .when(traits: ["SQLite"])),
                .target(name: "PostgreSQLShim", condition: .when(traits: ["PostgreSQL"])),
            ]),

        // The doorway, and the programs.
        .target(name: "StartShim", cSettings: hardened),
        room("AuthFunction", ["Accounts", "AppleID", "JOSE"]),
        .executableTarget(
            name: "auth-apple",
            dependencies: [
                "Accounts", "AppleID", "AuthFunction", "CurlHTTP", "JOSE", "KeyCache", "OpenSSLCrypto", "StartShim",
                "UserStores",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "apple-simulator", dependencies: ["CurlHTTP", "JOSE", "OpenSSLCrypto", "StartShim"],
            swiftSettings: settings),

        // The client SDK. On Apple's systems it uses Apple's frameworks in place of the two C libraries.
        room(
            "Xid",
            [
                "JOSE", .target(name: "CurlHTTP", condition: .when(platforms: [.linux])),
                .target(name: "OpenSSLCrypto", condition: .when(platforms: [.linux])),
            ]),

        // The command `xid`. Its folder is not called so, as a file system that ignores case would take it for `Xid`.
        .executableTarget(name: "xid-command", dependencies: ["JOSE", "Xid"], swiftSettings: settings),

        // The tests: one folder a room, and what they share.
        .target(
            name: "TestSupport",
            dependencies: ["Accounts", "AppleID", "CurlHTTP", "JOSE", "KeyCache", "OpenSSLCrypto"],
            path: "Tests/Support", exclude: ["DynamoDBServer.py", "KeyCacheProbe", "LoopbackServer.py", "StoreProbe"],
            swiftSettings: testSettings),
        .executableTarget(
            name: "store-probe", dependencies: ["Accounts", "AppleID", "JOSE", "TestSupport", "UserStores"],
            path: "Tests/Support/StoreProbe", swiftSettings: testSettings),
        .executableTarget(
            name: "key-cache-probe", dependencies: ["AppleID", "CurlHTTP", "JOSE", "KeyCache", "TestSupport"],
            path: "Tests/Support/KeyCacheProbe", swiftSettings: testSettings),
        tests("JOSE", ["JOSE", "OpenSSLCrypto"]),
        tests("AppleID", ["AppleID", "JOSE", "OpenSSLCrypto"]),
        tests("Accounts", ["Accounts", "AppleID", "JOSE", "OpenSSLCrypto", "UserStores"]),
        tests("OpenSSLCrypto", ["JOSE", "OpenSSLCrypto"]),
        tests("CurlHTTP", ["CurlHTTP"]),
        tests("KeyCache", ["AppleID", "CurlHTTP", "JOSE", "KeyCache", "OpenSSLCrypto", "key-cache-probe"]),
        tests(
            "UserStores",
            [
                "Accounts", "AppleID", "CurlHTTP", "JOSE", "UserStores", "store-probe",
                .target(name: "SQLiteShim", condition: .when(traits: ["SQLite"])),
            ]),
        tests("AuthFunction", ["Accounts", "AppleID", "AuthFunction", "JOSE", "OpenSSLCrypto", "UserStores"]),
        tests(
            "Integration",
            [
                "Accounts", "AppleID", "AuthFunction", "CurlHTTP", "JOSE", "OpenSSLCrypto", "Xid", "auth-apple",
                "apple-simulator",
            ]),
        tests("Xid", ["CurlHTTP", "JOSE", "OpenSSLCrypto", "Xid", "xid-command"]),
        tests("Linkage", ["auth-apple"]),
        tests(
            "Fuzz",
            ["Accounts", "AppleID", "AuthFunction", "JOSE", "KeyCache", "OpenSSLCrypto", "UserStores"],
            excluding: ["Corpus", "build.sh", "run.sh", "seeds.py", "words.dict"]),
    ]
)
