import Foundation
import TestSupport

/// A real OpenID provider of another kind: nanoidp of the Python index on loopback, by its OAuth 2.1 profile. ID tokens by RS256,
/// PKCE demanded and S256 only, a client that need not name its port (RFC 8252 §7.3).
///
/// `Tests/tools.sh` installs it. It runs in a scope.
enum NanoIDP {
    static let clientID = "app"
    static let person = (name: "ana", password: "una-clave-larga")

    private static let python = Programs.packageRoot.appending(path: ".build/tools/bin/python")
    private static let program = Programs.packageRoot.appending(path: ".build/tools/bin/nanoidp")

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program.path()) }

    /// Gives the issuer.
    static func run<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nanoidp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = LoopbackPort.free()
        let issuer = "http://127.0.0.1:\(port)"
        let settings = """
            config_version: 1
            security_profile: oauth21
            server: {host: "127.0.0.1", port: \(port)}
            oauth:
              issuer: "\(issuer)"
              audience: "api"
              require_pkce: true
              clients:
                - {client_id: "\(clientID)", token_endpoint_auth_method: none, redirect_uris: ["http://127.0.0.1/callback"]}
            jwt: {algorithm: RS256, keys_dir: "\(folder.path())/keys"}
            """
        let users = """
            config_version: 1
            users:
              \(person.name): {password: "\(person.password)", email: "ana@example.com"}
            """
        try Data(settings.utf8).write(to: folder.appending(path: "settings.yaml"))
        try Data(users.utf8).write(to: folder.appending(path: "users.yaml"))
        let log = folder.appending(path: "log")
        let process = try ChildProcess(
            python, [program.path(), "--config", folder.path()],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path()], output: log, errors: log)
        defer {
            process.kill(SIGKILL)
            process.wait()
        }
        _ = try Chromium.wait { () -> Bool? in
            guard !process.hasEnded else {
                throw Chromium.Refused(description: "nanoidp: \(try String(contentsOf: log, encoding: .utf8))")
            }
            let ran = try Ran("/usr/bin/curl", "--silent", "--fail", "\(issuer)/.well-known/openid-configuration")
            return ran.status == 0 ? true : nil
        }
        return try await body(issuer)
    }

    static var signIn: [Chromium.Step] {
        [
            Chromium.Step(when: "#password") {
                try $0.type(person.name, into: "#username")
                try $0.type(person.password, into: "#password")
                try $0.touch("button[type=submit]")
            }
        ]
    }
}
