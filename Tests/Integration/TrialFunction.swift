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
        let made = try run(["keys", "new"])
        try #require(made.status == 0, "\(made.log)")
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Beside the bundle of the tests, where `swift build` puts every product.
    static let executable: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let own = URL(
            fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/")
        let places = [bundle, own.deletingLastPathComponent()].map { $0.appendingPathComponent("auth-apple") }
        return places.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? places[0]
    }()

    /// The body of a sign-in that is good now.
    static func signInBody(_ subject: String, _ change: (TokenForge) -> TokenForge = { $0 }) -> String {
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        let token = change(TokenForge(subject: subject, at: now)).token
        return #"{"identity_token":"\#(token)","deviceInfo":{"platform":"iOS"},"full_name":"Ana Ruiz"}"#
    }

    /// Runs to the end.
    func run(
        _ arguments: [String] = [], input: String = "", adding extra: [String: String] = [:]
    ) throws -> (status: Int32, output: String, log: String) {
        let running = try start(arguments, adding: extra)
        running.input.write(Data(input.utf8))
        try running.input.close()
        let output = String(decoding: running.output.readDataToEndOfFile(), as: UTF8.self)
        return (running.end(), output, running.log)
    }

    func start(_ arguments: [String] = [], adding extra: [String: String] = [:]) throws -> RunningFunction {
        try RunningFunction(
            Self.executable, arguments, environment.merging(extra) { $1 },
            logFile: folder.appending(path: "log-\(UUID().uuidString)"))
    }
}

/// A process, killed at the end of its scope if it still runs.
final class RunningFunction {
    private let process = Process()
    private let inputPipe = Pipe()
    private let outputPipe = Pipe()
    private let logFile: URL

    var input: FileHandle { inputPipe.fileHandleForWriting }
    var output: FileHandle { outputPipe.fileHandleForReading }
    var isRunning: Bool { process.isRunning }
    var log: String { (try? String(contentsOf: logFile, encoding: .utf8)) ?? "" }

    init(_ executable: URL, _ arguments: [String], _ environment: [String: String], logFile: URL) throws {
        self.logFile = logFile
        try Data().write(to: logFile)
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = try FileHandle(forWritingTo: logFile)
        // A program that ends early must not take the tests with it.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    func send(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// The exit status, waited for; nil when the process does not end by itself in time.
    func end(within seconds: Double) -> Int32? {
        let end = Date(timeIntervalSinceNow: seconds)
        while process.isRunning {
            guard Date() < end else { return nil }
            usleep(10_000)
        }
        return process.terminationStatus
    }

    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

extension JSON {
    /// A text that a test expects to be JSON.
    init(text: String) throws {
        try self.init(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1 << 24))
    }
}
