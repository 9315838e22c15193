import Foundation
import JOSE
import TestSupport
import Testing

/// The program under test with a configuration in a folder of its own, and the forge's keys for Apple's.
final class TrialFunction {
    let folder: URL
    var environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "auth-apple-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let keys = try #require(TokenForge.keys.keySet)
        try Data(keys.json.serialized()).write(to: folder.appending(path: "apple-keys.json"))
        environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path,
            "AUTH_APPLE_MODE": "development", "AUTH_APPLE_AUDIENCES": TokenForge.audience,
            "AUTH_APPLE_KEYS_URL": "file://\(folder.path)/apple-keys.json",
            "AUTH_APPLE_KEY_CACHE": "\(folder.path)/cache/apple-keys.json",
            "AUTH_APPLE_STORE": "sqlite:\(folder.path)/state/accounts.sqlite",
            "AUTH_APPLE_SIGNING_KEYS_FILE": "\(folder.path)/signing-keys.json",
            "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example.com",
            "AUTH_APPLE_TOKEN_AUDIENCE": "https://api.example.com",
        ]
        #if !SQLite
        environment["AUTH_APPLE_STORE"] = "memory:"
        #endif
        let made = try run(["keys", "new"])
        try #require(made.status == 0, "\(made.log)")
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The body of a sign-in that is good now.
    static func signInBody(_ subject: String, _ change: (TokenForge) -> TokenForge = { $0 }) -> String {
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        let token = change(TokenForge(subject: subject, at: now)).token
        return #"{"identity_token":"\#(token)","deviceInfo":{"platform":"iOS"},"full_name":"Ana Ruiz"}"#
    }

    /// Runs to the end: the function itself, or another program in its environment.
    func run(
        _ arguments: [String] = [], program: [String]? = nil, input: String = "", adding extra: [String: String] = [:]
    ) throws -> (status: Int32, output: String, log: String) {
        let command = try program ?? [Programs.built("auth-apple").path()]
        let ran = try Ran(
            command + arguments, environment: environment.merging(extra) { $1 }, input: Data(input.utf8))
        return (ran.status, String(decoding: ran.output, as: UTF8.self), String(decoding: ran.errors, as: UTF8.self))
    }

    /// Starts the function where a runtime drives it: with nothing on standard input.
    func start(adding extra: [String: String] = [:]) throws -> RunningFunction {
        try RunningFunction(
            environment: environment.merging(extra) { $1 }, logFile: folder.appending(path: "log-\(UUID().uuidString)"))
    }
}

/// The function while it runs, killed at the end of its scope.
final class RunningFunction {
    private let process: ChildProcess
    private let logFile: URL

    var isRunning: Bool { !process.hasEnded }
    var log: String { (try? String(contentsOf: logFile, encoding: .utf8)) ?? "" }

    init(environment: [String: String], logFile: URL) throws {
        self.logFile = logFile
        process = try ChildProcess(Programs.built("auth-apple"), environment: environment, errors: logFile)
    }

    func send(_ signal: Int32) {
        process.kill(signal)
    }

    /// The exit status, waited for; nil when the process does not end by itself in time.
    func end(within seconds: Double) -> Int32? {
        let end = Date(timeIntervalSinceNow: seconds)
        while !process.hasEnded {
            guard Date() < end else { return nil }
            usleep(10_000)
        }
        return process.wait()
    }
}

extension JSON {
    /// A text that a test expects to be JSON.
    init(text: String) throws {
        try self.init(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1 << 24))
    }
}
