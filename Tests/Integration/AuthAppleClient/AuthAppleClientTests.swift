// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import Xid

/// The example of Xid's documentation, against the function behind lighttpd and the simulator in Apple's place.
@Suite struct AuthAppleClientTests {
    /// The app's storage; it can be looked into.
    private final class Storage: TokenStorageAdapter, @unchecked Sendable {
        private let lock = NSLock()
        private var kept: [String: String] = [:]

        var values: [String: String] { lock.withLock { kept } }

        func save(key: String, value: String) throws { lock.withLock { kept[key] = value } }
        func load(key: String) throws -> String? { lock.withLock { kept[key] } }
        func delete(key: String) throws { lock.withLock { kept[key] = nil } }
    }

    private final class Clock: @unchecked Sendable {
        private let lock = NSLock()
        private var offset = 0.0

        var now: Date { lock.withLock { Date(timeIntervalSinceNow: offset) } }
        func advance(_ seconds: Double) { lock.withLock { offset += seconds } }
    }

    private static func nonce() -> AppleNonce {
        AppleNonce { OpenSSLCryptography().sha256(Array($0)[...]) }
    }

    /// As `ASAuthorizationAppleIDCredential` has it: the simulator's, for a nonce that Apple was given.
    private static func identityToken(_ apple: SimulatorAddress, nonce: String) throws -> String {
        let body = JSON.object(["client_id": "com.example.app", "person": "ana", "nonce": .string(nonce)])
        let answer = try apple.control("/simulator/code", body)
        let json = try JSON(parsing: Array(answer.text.utf8), limits: .init(bytes: 65_536))
        return try #require(json["identity_token"]?.string)
    }

    /// The servers' scopes do not wait for tasks: they have a thread of their own, which does.
    private func withFunction(
        _ body: @escaping @Sendable (URL, SimulatorAddress) async throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try Self.serve(body) }) }
        }
    }

    private static func serve(_ body: @escaping @Sendable (URL, SimulatorAddress) async throws -> Void) throws {
        let simulator = try AppleSimulator()
        try simulator.serving { apple in
            let site = try CGISite()
            site.environment["AUTH_APPLE_KEYS_URL"] = "\(apple.url)/auth/keys"
            try WebServer.run(.lighttpd, site) { server in
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
                try wait { try await body(url, apple) }
            }
        }
    }

    /// For a thread that may be blocked.
    private static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Result<Value, any Error>?
        Task.detached {
            do { result = .success(try await work()) } catch { result = .failure(error) }
            done.signal()
        }
        done.wait()
        return try #require(result).get()
    }

    @Test func aPersonSignsInStaysSignedInAndSignsOut() async throws {
        try await withFunction { url, apple in
            let (storage, clock) = (Storage(), Clock())
            let client = AuthAppleClient(server: url, storage: storage, now: { clock.now })
            await #expect(throws: AuthAppleClient.SignedOut.self) { try await client.accessToken() }

            let nonce = Self.nonce()
            #expect(nonce.hashed.count == 64 && nonce.raw != Self.nonce().raw)
            let token = try Self.identityToken(apple, nonce: nonce.hashed)
            let device = ["model": "iPhone16,2", "platform": "iOS"]
            let first = try await client.signIn(
                identityToken: token, nonce: nonce, givenName: "Ana", familyName: "Ruiz", device: device)
            #expect(first.isNew && first.person.fullName == "Ana Ruiz" && first.person.email?.contains("@") == true)
            let access = try await client.accessToken()
            #expect(access.split(separator: ".").count == 3)
            #expect(try await client.accessToken() == access, "not renewed while it is good")

            // The access token's quarter of an hour is over. Many want it at once.
            let before = storage.values
            clock.advance(16 * 60)
            let renewed = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await client.accessToken() } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(renewed.count == 1 && renewed.first != access && storage.values != before)
            // The app started anew finds the session.
            let restarted = AuthAppleClient(server: url, storage: storage, now: { clock.now })
            #expect(try await restarted.accessToken() == renewed.first)

            try await client.signOut()
            #expect(storage.values.isEmpty)
            await #expect(throws: AuthAppleClient.SignedOut.self) { try await client.accessToken() }
            // It is over at the function as well.
            try #require(before.count == 1)
            for (key, value) in before { try storage.save(key: key, value: value) }
            await #expect(throws: AuthAppleClient.SignedOut.self) { try await restarted.accessToken() }
            #expect(storage.values.isEmpty)
        }
    }

    @Test func aTokenOfAnotherSignInIsRefusedAndNothingIsKept() async throws {
        try await withFunction { url, apple in
            let storage = Storage()
            let client = AuthAppleClient(server: url, storage: storage)
            let token = try Self.identityToken(apple, nonce: Self.nonce().hashed)
            let problem = await #expect(throws: AuthAppleClient.Problem.self) {
                try await client.signIn(identityToken: token, nonce: Self.nonce(), device: ["platform": "iOS"])
            }
            #expect(problem?.status == 401 && problem?.code == "invalid_token")
            #expect(problem?.detail.contains("Apple") == true, "in the language that the system asks for")
            #expect(storage.values.isEmpty)
        }
    }

    @Test func anOutageDoesNotEndTheSession() async throws {
        let (storage, clock) = (Storage(), Clock())
        try await withFunction { url, apple in
            let nonce = Self.nonce()
            let client = AuthAppleClient(server: url, storage: storage, now: { clock.now })
            _ = try await client.signIn(
                identityToken: try Self.identityToken(apple, nonce: nonce.hashed), nonce: nonce,
                device: ["platform": "iOS"])
        }
        // Now nobody listens there.
        clock.advance(16 * 60)
        let kept = storage.values
        let url = try #require(URL(string: "http://127.0.0.1:\(Loopback.freePort())"))
        let client = AuthAppleClient(server: url, storage: storage, now: { clock.now })
        await #expect(throws: URLError.self) { try await client.accessToken() }
        #expect(kept.count == 1 && storage.values == kept)
    }

    /// A renewal that ends after somebody else has signed in: refused, it erased the new session; and who asked for the new one's token
    /// was told that the session had ended.
    @Test(arguments: [401, 200]) func aSignInDuringARenewalStays(status: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { try Self.signInDuringARenewal(status) }) }
        }
    }

    private static func signInDuringARenewal(_ status: Int) throws {
        func tokens(_ name: String) -> LoopbackServer.Answer {
            LoopbackServer.Answer(
                200,
                #"{"access_token":"access-\#(name)","refresh_token":"refresh-\#(name)","expires_in":900,"is_new":false,"#
                    + #""user":{"id":"\#(name)","full_name":null,"email":null}}"#)
        }
        let refusal = #"{"status":401,"code":"invalid_token","detail":"-"}"#
        try LoopbackServer.run(tokens("ana")) { server in
            let (storage, clock) = (Storage(), Clock())
            let client = AuthAppleClient(
                server: try #require(URL(string: server.plainURL(""))), storage: storage, now: { clock.now })
            let signIn = { @Sendable in
                _ = try await client.signIn(identityToken: "x", nonce: nonce(), device: ["platform": "iOS"])
            }
            try wait(signIn)
            clock.advance(16 * 60)
            let late = status == 401 ? LoopbackServer.Answer(401, refusal) : tokens("ana-2")
            try server.answer(late.with { $0.held = true })
            let renewal = Task { try await client.accessToken() }
            while try !server.requests().contains(where: { $0.path == "/auth/refresh" }) { usleep(10_000) }
            try server.answer(tokens("eva"))
            try wait(signIn)
            #expect(try wait { try await client.accessToken() } == "access-eva")
            try server.release()
            #expect(throws: AuthAppleClient.SignedOut.self) { try wait { try await renewal.value } }
            #expect(try wait { try await client.accessToken() } == "access-eva")
            #expect(storage.values.values.allSatisfy { $0.contains("refresh-eva") } && storage.values.count == 1)
        }
    }

    /// What the article shows is this file, to the letter.
    @Test func theArticleShowsTheCodeThatIsTested() throws {
        let article = Programs.packageRoot.appending(path: "Sources/Xid/Xid.docc/SignInWithApple.md")
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "AuthAppleClient.swift")
        let text = try String(contentsOf: article, encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let code = try String(contentsOf: file, encoding: .utf8)
        #expect(blocks.filter { $0.contains("actor AuthAppleClient") } == [code])
    }
}
#endif
