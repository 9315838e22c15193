import Foundation
import TestSupport

/// One installation of the function for a web server to run: the program, its secrets and state, and Apple's keys as the
/// simulator makes them. Everything lies in one temporary folder and goes with it.
///
/// A server that root starts runs the function as www-data, so program and state are that user's to read and to write.
final class CGISite {
    let folder: URL
    /// What the web server hands to the function.
    var environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "auth-apple-cgi-\(UUID().uuidString.prefix(8))")
        try Self.makeFolder(folder, 0o755)
        let path = { [folder] (name: String) in folder.appending(path: name).path() }
        environment = [
            "AUTH_APPLE_MODE": "development", "AUTH_APPLE_AUDIENCES": "com.example.app,com.example.web",
            "AUTH_APPLE_KEYS_URL": "file://\(Installed.shared.appleKeys.path())",
            "AUTH_APPLE_KEY_CACHE": path("private/cache/apple-keys.json"),
            "AUTH_APPLE_STORE": "sqlite:\(path("private/state/accounts.sqlite"))",
            "AUTH_APPLE_SIGNING_KEYS_FILE": path("private/signing-keys.json"),
            "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example.com",
            "AUTH_APPLE_TOKEN_AUDIENCE": "https://api.example.com", "AUTH_APPLE_NOTIFICATIONS": "true",
            "AUTH_APPLE_DELETION_SESSION_SECONDS": "600",
            "AUTH_APPLE_WEB_CLIENT_ID": "com.example.web",
            "AUTH_APPLE_WEB_CALLBACK_URL": "https://auth.example.com/auth/apple/callback",
            "AUTH_APPLE_RETURN_URLS": "com.example.app:/signed-in",
        ]
        try Self.makeFolder(folder.appending(path: "private"), 0o700)
        // All sites have the same keys, so that their answers can be compared.
        try FileManager.default.copyItem(
            at: Installed.shared.signingKeys, to: folder.appending(path: "private/signing-keys.json"))
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Hands the state to the user whom a server that root starts runs as.
    func giveToServer() throws {
        guard let user = ServerUser.current else { return }
        for path in ["private", "private/signing-keys.json"] {
            chown(folder.appending(path: path).path(), user.id, user.group)
        }
    }

    /// The event by pipe, as the plain doorway answers it.
    func pipe(_ event: Data) throws -> [String: Any] {
        let ran = try Ran(Installed.shared.program.path(), environment: environment, input: event)
        return try JSONSerialization.jsonObject(with: ran.output) as? [String: Any] ?? [:]
    }

    var cache: URL { folder.appending(path: "private/cache/apple-keys.json") }

    /// Lets two hours pass for the cache file: its keys are past their freshness, and any pause is over.
    func ageCache() throws {
        let text = try String(contentsOf: cache, encoding: .utf8)
        let aged = text.replacing(/"(fetched_at|fresh_until|ended_at)":(\d+)/) { match in
            "\"\(match.1)\":\((Int(match.2) ?? 0) - 7_200_000)"
        }
        // In place: the file stays its owner's.
        let file = try FileHandle(forWritingTo: cache)
        try file.write(contentsOf: Data(aged.utf8))
        try file.close()
    }

    /// When the cache's keys were fetched, in milliseconds.
    func fetchedAt() throws -> Int {
        let text = try String(contentsOf: cache, encoding: .utf8)
        return text.firstMatch(of: /"fetched_at":(\d+)/).flatMap { Int($0.1) } ?? 0
    }

    static func makeFolder(_ folder: URL, _ mode: Int) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path())
    }
}

/// www-data, when root runs the tests.
struct ServerUser {
    let id: uid_t
    let group: gid_t

    static let current: ServerUser? = {
        guard geteuid() == 0, let entry = getpwnam("www-data") else { return nil }
        return ServerUser(id: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }()
}

/// What all sites share, made once: the program where any user can run it, the signing keys, Apple's keys, the events.
struct Installed {
    // If it cannot be made no test of this folder can run.
    // swift-format-ignore: NeverUseForceTry
    static let shared = try! Installed()

    let folder: URL
    var program: URL { folder.appending(path: "auth-apple") }
    var signingKeys: URL { folder.appending(path: "signing-keys.json") }
    var appleKeys: URL { folder.appending(path: "apple-keys.json") }
    /// The golden events by name, with tokens filled in by the simulator.
    let events: [(name: String, event: Data)]

    static let package = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "auth-apple-cgi-program-\(getpid())")
        // Other runs of the tests may be at work on the same machine; this one's files go when it ends.
        atexit {
            let name = "auth-apple-cgi-program-\(getpid())"
            try? FileManager.default.removeItem(at: FileManager.default.temporaryDirectory.appending(path: name))
        }
        try CGISite.makeFolder(folder, 0o755)
        let release = ProcessInfo.processInfo.environment["AUTH_APPLE_RELEASE_BINARY"].map { URL(filePath: $0) }
        for name in ["auth-apple", "apple-simulator"] {
            let built = try release.map { $0.deletingLastPathComponent().appending(path: name) } ?? Programs.built(name)
            try FileManager.default.copyItem(at: built, to: folder.appending(path: name))
        }
        let path = { [folder] (name: String) in folder.appending(path: name).path() }
        let environment = [
            "APPLE_SIMULATOR_KEYS": path("simulator/keys.json"), "APPLE_SIMULATOR_AUDIENCE": "com.example.app",
            "AUTH_APPLE_SIGNING_KEYS_FILE": path("signing-keys.json"), "PATH": "\(folder.path()):/usr/bin:/bin",
        ]
        try Ran(path("apple-simulator"), "keys", environment: environment).output.write(
            to: URL(filePath: path("apple-keys.json")))
        _ = try Ran(path("auth-apple"), "keys", "new", environment: environment)

        let files = Self.package.appending(path: "events")
        let names = try FileManager.default.contentsOfDirectory(atPath: files.path()).sorted()
            .filter { $0.hasSuffix(".event.json") }
        let filled = try Ran(
            [files.appending(path: "fill.sh").path()] + names.map { files.appending(path: $0).path() },
            environment: environment
        ).output.split(separator: 0x0A).map { Data($0) }
        guard filled.count == names.count else { throw CocoaError(.fileReadCorruptFile) }
        events = zip(names, filled).map { (String($0.dropLast(".event.json".count)), $1) }
    }

    func event(_ name: String) throws -> [String: Any] {
        guard let event = events.first(where: { $0.name == name })?.event else { throw CocoaError(.fileNoSuchFile) }
        return try JSONSerialization.jsonObject(with: event) as? [String: Any] ?? [:]
    }

    /// The body of a first login that is good.
    func signInBody() throws -> Data {
        Data((try event("01-first-login")["body"] as? String ?? "").utf8)
    }
}
