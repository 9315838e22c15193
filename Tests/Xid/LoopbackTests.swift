import Foundation
import JOSE
import OpenSSLCrypto
import Testing

@testable import Xid

/// The browser agent of Linux, over real sockets on both sides: libcurl's to the provider, a raw one as the browser.
@Suite struct LoopbackTests {
    /// One request, as it is written; the answer, as it comes.
    static func ask(_ port: Int, _ text: String) -> String {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        defer { close(client) }
        var time = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return "refused" }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var answer: [UInt8] = []
        while true {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(client, &chunk, chunk.count)
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    static func get(_ url: URL, method: String = "GET", host: String? = nil) -> String {
        let port = url.port ?? 80
        let target = url.path + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        return ask(port, "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n\r\n")
    }

    static func location(_ answer: String) throws -> URL {
        let line = try #require(answer.components(separatedBy: "\r\n").first { $0.hasPrefix("Location: ") })
        return try #require(URL(string: String(line.dropFirst(10))))
    }

    /// An app on Linux; its browser is what the test makes of the address that it is shown.
    static func trial(
        mutations: [Mutation] = [], redirect: String = "http://127.0.0.1/callback", seconds: Int64 = 20,
        open: @escaping @Sendable (URL) throws -> Void
    ) throws -> (Trial, Xid) {
        let trial = try Trial(mutations: mutations) {
            $0.redirectUri = URL(string: redirect) ?? $0.redirectUri
            $0.postLogoutRedirectUri = URL(string: "http://127.0.0.1/out")
        }
        let (storage, clock) = (trial.storage, trial.clock)
        let xid = Xid(
            platform: Platform(
                transport: CurlTransport(), cryptography: OpenSSLCryptography(),
                agent: LoopbackAgent(open: open, seconds: seconds), defaultStorage: { storage }, now: { clock.now }))
        xid.configure(options: trial.configuration)
        return (trial, xid)
    }

    /// The person's browser: follows redirects to the end.
    @Sendable static func browse(_ url: URL) throws {
        var next = url
        for _ in 0..<5 {
            let answer = get(next)
            guard answer.hasPrefix("HTTP/1.1 302") else { return }
            next = try location(answer)
        }
    }

    /// xdg-open may go on as long as the browser does. The port was kept as long, and a second sign-in had none.
    @Test func aBrowserThatStaysOpenDoesNotKeepThePort() async throws {
        let isClosed = DispatchSemaphore(value: 0)
        let (_, xid) = try Self.trial(redirect: "http://127.0.0.1:\(LoopbackPort.free())/callback") { url in
            try Self.browse(url)
            _ = isClosed.wait(timeout: .now() + 30)
        }
        defer { for _ in 0..<2 { isClosed.signal() } }
        let first = try await xid.signIn()
        let second = try await xid.signIn()
        #expect(first.subject == second.subject)
    }

    @Test func aSignInAndASignOutEndToEnd() async throws {
        let shown = Guarded<[String]>([])
        let (trial, xid) = try Self.trial { url in
            shown.withLock { $0.append(url.absoluteString) }
            try Self.browse(url)
        }
        defer { trial.site?.stop() }
        let session = try await xid.signIn()
        #expect(session.subject == OpenIDProvider.subject)
        let redirectURI = try #require(trial.provider.requests("/authorize").first?.query["redirect_uri"])
        #expect(redirectURI.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/callback/) != nil)
        let port = try #require(URL(string: redirectURI)?.port)
        #expect(Self.ask(port, "GET / HTTP/1.1\r\n\r\n") == "refused", "closed after one redirect")
        try await xid.signOut(callEndSession: true)
        #expect(trial.provider.count("/logout") == 1)
        // What is shown to the browser by an argument list holds nothing of the sign-in.
        let secrets =
            CanaryTests.secrets(trial)
            + trial.provider.requests("/authorize").flatMap {
                [$0.query["state"], $0.query["nonce"], $0.query["code_challenge"]].compactMap { $0 }
            }
        for address in shown.withLock({ $0 }) { CanaryTests.check(address, secrets, "an argument list") }
        #expect(shown.withLock { $0.count } == 2)
    }

    @Test func everySignInHasAPortOfItsOwnUnlessOneIsConfigured() async throws {
        let (trial, xid) = try Self.trial(open: Self.browse)
        defer { trial.site?.stop() }
        for _ in 0..<3 { try await xid.signIn() }
        let uris = trial.provider.requests("/authorize").compactMap { $0.query["redirect_uri"] }
        #expect(Set(uris).count >= 2)
        let port = try #require(URL(string: uris[0])?.port)
        let (other, fixed) = try Self.trial(redirect: "http://127.0.0.1:\(port)", open: Self.browse)
        defer { other.site?.stop() }
        try await fixed.signIn()
        #expect(other.provider.requests("/authorize").first?.query["redirect_uri"] == "http://127.0.0.1:\(port)/")
    }

    /// Whatever other programs and pages on this machine send, the sign-in stays open and is answered by its own redirect only.
    @Test func otherRequestsAreRefusedAndEndNothing() async throws {
        let answers = Guarded<[String: String]>([:])
        let (trial, xid) = try Self.trial { entrance in
            let note = { (name: String, answer: String) in
                answers.withLock { $0[name] = String(answer.prefix { $0 != "\r\n" }) }
            }
            let port = entrance.port ?? 0
            let at = { (target: String) in URL(string: "http://127.0.0.1:\(port)\(target)") ?? entrance }
            note("path", Self.get(at("/other?code=x&state=y")))
            note("prefix", Self.get(at("/callbackevil?code=x&state=y")))
            note("state", Self.get(at("/callback?code=x&state=guess")))
            note("error", Self.get(at("/callback?error=access_denied")))
            note("host", Self.get(at("/callback?code=x"), host: "evil.example:\(port)"))
            note("no host", Self.ask(port, "GET /callback HTTP/1.1\r\n\r\n"))
            note("two hosts", Self.ask(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nHost: x\r\n\r\n"))
            note("post", Self.get(at("/callback?code=x"), method: "POST"))
            note("head", Self.get(entrance, method: "HEAD"))
            note("nonsense", Self.ask(port, "nonsense\r\n\r\n"))
            note("absolute", Self.ask(port, "GET http://evil/ HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"))
            note("long", Self.ask(port, "GET /" + String(repeating: "x", count: 20_000)))
            let first = Self.get(entrance)
            note("entrance", first)
            note("entrance again", Self.get(entrance))
            let redirect = try Self.location(Self.get(try Self.location(first)))
            let page = Self.get(redirect)
            note("redirect", page)
            answers.withLock { $0["page"] = page }
        }
        defer { trial.site?.stop() }
        try await xid.signIn()
        // The agent's thread may still write what it saw.
        for _ in 0..<200 where answers.withLock({ $0["page"] }) == nil { try await Task.sleep(for: .milliseconds(10)) }
        let seen = answers.withLock { $0 }
        let statuses = seen.filter { $0.key != "page" }.mapValues { String($0.dropFirst(9).prefix(3)) }
        #expect(
            statuses == [
                "path": "404", "prefix": "404", "state": "400", "error": "400", "host": "421", "no host": "421",
                "two hosts": "421", "post": "405", "head": "405", "nonsense": "400", "absolute": "400", "long": "",
                "entrance": "302", "entrance again": "410", "redirect": "200",
            ])
        let page = try #require(seen["page"])
        #expect(page.contains("Content-Security-Policy: default-src 'none'") && page.contains("no-store"))
        #expect(page.contains("<html lang=es>") && page.contains("<p>Listo. "), "people are spoken to in Spanish first")
        CanaryTests.check(page, CanaryTests.secrets(trial), "the page")
        #expect(trial.provider.count("/token") == 1)
    }

    @Test func aClientThatSaysNothingKeepsNobodyWaiting() async throws {
        let (trial, xid) = try Self.trial { entrance in
            // Browsers open connections ahead of need. Served in turn, five seconds each, these would outlast the visit.
            for _ in 0..<10 {
                let port = entrance.port ?? 0
                Thread.detachNewThread { _ = Self.ask(port, "GET /") }
            }
            Thread.sleep(forTimeInterval: 0.1)
            try Self.browse(entrance)
        }
        defer { trial.site?.stop() }
        try await xid.signIn()
    }

    @Test func aBrowserThatCannotBeOpenedIsSaid() async throws {
        let (trial, xid) = try Self.trial { _ in throw XidError(.cannotStartBrowser) }
        defer { trial.site?.stop() }
        #expect(await Trial.code { try await xid.signIn() } == .cannotStartBrowser)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func cancellingClosesThePort() async throws {
        let entrance = Guarded<URL?>(nil)
        let (trial, xid) = try Self.trial { url in entrance.withLock { $0 = url } }
        defer { trial.site?.stop() }
        let task = Task { try await xid.signIn() }
        while entrance.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        let port = try #require(entrance.withLock { $0?.port })
        // The listener goes with the visit, whose thread ends a moment later.
        var answer = ""
        for _ in 0..<100 where answer != "refused" {
            answer = Self.ask(port, "GET / HTTP/1.1\r\n\r\n")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(answer == "refused")
    }

    @Test func whoNeverComesBackEndsTheWaiting() async throws {
        let (trial, xid) = try Self.trial(seconds: 1) { _ in }
        defer { trial.site?.stop() }
        #expect(await Trial.code { try await xid.signIn() } == .flowExpired)
        #expect(trial.storage.values.isEmpty)
    }

    /// The tab was closed, which is no error, and cannot be told from one that stays open.
    @Test func whoNeverComesBackFromSigningOutIsSignedOut() async throws {
        let entrance = Guarded<URL?>(nil)
        let (trial, xid) = try Self.trial(seconds: 1) { url in entrance.withLock { $0 = url } }
        defer { trial.site?.stop() }
        try await xid.signOut(callEndSession: true)
        #expect(entrance.withLock { $0 } != nil)
    }

    @Test(arguments: [
        "com.example.app://cb", "https://app.example/cb", "http://localhost/cb", "http://127.0.0.2/cb",
        "http://[::1]/cb",
        "http://127.0.0.1:99999/cb",
    ])
    func aRedirectURIThatCannotBeCaughtHereIsRefused(uri: String) async throws {
        let (trial, xid) = try Self.trial(redirect: uri) { _ in }
        defer { trial.site?.stop() }
        let code = await Trial.code { try await xid.signIn() }
        #expect(code == .cannotStartBrowser || code == .configurationInvalid)
        #expect(trial.provider.count("/authorize") == 0 && trial.storage.values.isEmpty)
    }

    @Test func aPortThatIsTakenIsSaid() async throws {
        let listener = try #require(LoopbackListener(port: 0))
        let (trial, xid) = try Self.trial(redirect: "http://127.0.0.1:\(listener.port)/cb") { _ in }
        defer { trial.site?.stop() }
        #expect(await Trial.code { try await xid.signIn() } == .cannotStartBrowser)
        withExtendedLifetime(listener) {}
    }
}
