import Foundation
import TestSupport
import Testing

/// The specification's own example compiles as it stands: in the language mode of Swift 5 and in that of Swift 6.
@Suite struct CallerTests {
    static let quickStart = """
        import Foundation
        import Xid

        struct EnterpriseKeychain: TokenStorageAdapter {
            func save(key: String, value: String) throws { /* ... */ }
            func load(key: String) throws -> String? { nil }
            func delete(key: String) throws { /* ... */ }
        }

        func quickStart(callbackUrl: URL) async throws {
            Xid.shared.configure(options: XidConfiguration(
                issuer: URL(string: "https://xid.dev")!,
                clientId: "your_client_id",
                redirectUri: URL(string: "com.example.app://auth/callback")!,
                scopes: ["openid", "profile", "email"]
            ))
            try Xid.shared.setTokenStorage(EnterpriseKeychain())
            try await Xid.shared.signIn()
            let session = try await Xid.shared.handleRedirect(url: callbackUrl)
            if let session = try await Xid.shared.getSession() {
                let token = try await Xid.shared.getAccessToken()
                print(session.subject, token.isEmpty)
            }
            try await Xid.shared.signOut(callEndSession: true)
            do {
                try await Xid.shared.signIn(options: XidSignInOptions(prompt: "login"))
            } catch let error as XidError where error.code == .userCancelled {
                return
            }
            await show(session)
        }

        @MainActor func show(_ session: XidSession) { print(session) }
        """

    /// On a thread of its own: a compiler takes seconds, and Swift's pool has few threads.
    static func compile(_ text: String, mode: String) async throws -> Ran {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(text, mode: mode) }) }
        }
    }

    private static func run(_ text: String, mode: String) throws -> Ran {
        let folder = FileManager.default.temporaryDirectory.appending(path: "caller-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "caller.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let build = try Programs.built("apple-simulator").deletingLastPathComponent()
        // Of the two C modules behind Xid the compiler wants to know where they are; a caller sees neither.
        let maps = ["CurlShim", "OpenSSLShim"].flatMap { name in
            ["-Xcc", "-fmodule-map-file=\(build.appending(path: "\(name).build/module.modulemap").path())"]
        }
        return try Ran(
            [
                "/usr/bin/env", "swiftc", "-swift-version", mode, "-strict-concurrency=complete", "-warnings-as-errors",
                "-typecheck", "-module-cache-path", build.appending(path: "CallerTests.cache").path(), "-I",
                build.appending(path: "Modules").path(),
            ]
                + maps + [file.path()],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
    }

    @Test(arguments: ["5", "6"])
    func theExampleOfTheSpecificationCompiles(mode: String) async throws {
        let ran = try await Self.compile(Self.quickStart, mode: mode)
        #expect(ran.status == 0, "\(ran.text)")
    }

    /// Or the test above might show nothing.
    @Test func aMistakeInItDoesNot() async throws {
        let text = Self.quickStart.replacingOccurrences(of: "getSession()", with: "getSessions()")
        let ran = try await Self.compile(text, mode: "5")
        #expect(ran.status != 0)
        #expect(ran.text.contains("no member 'getSessions'"))
    }

    /// What is inside stays inside.
    @Test func aCallerSeesThePublicAPIOnly() async throws {
        let names = ["Platform", "LoopbackAgent", "CurlTransport", "Guarded", "RelyingParty", "SessionRecord"]
        let text = "import Xid\n" + names.enumerated().map { "let x\($0) = \($1).self\n" }.joined()
        let ran = try await Self.compile(text, mode: "5")
        #expect(ran.status != 0)
        for name in names { #expect(ran.text.contains("'\(name)'"), "\(name)") }
    }
}
