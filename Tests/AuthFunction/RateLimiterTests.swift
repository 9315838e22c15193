import Accounts
import AuthFunction
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import UserStores

struct RateLimiterTests {
    /// A sign-in whose token is missing: what is counted is the attempt.
    private func attempt(_ doorway: Doorway, from address: String? = "192.0.2.1") throws -> Answer {
        try doorway.answer(
            to: .success(
                Request(
                    method: "POST", path: "/auth/apple", headers: ["content-type": "application/json"],
                    body: Array("{}".utf8), context: .init(sourceAddress: address))))
    }

    @Test func `Off unless configured: nothing is counted, and nobody is refused`() throws {
        let doorway = Doorway(counter: FailingUsers(error: .unavailable(reason: "not to be asked")))
        for _ in 0..<100 { #expect(try attempt(doorway).status == 400) }
        let token = try doorway.signIn().refreshToken
        #expect(try doorway.send("/auth/refresh", refreshToken: token).status == 200)
    }

    @Test func `Of sign-ins from one address so many pass in a window, and in the next one as many again`() throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 3, seconds: 60)])
        // 1 800 000 000 is the beginning of a minute.
        for _ in 0..<3 { #expect(try attempt(doorway).status == 400) }
        for _ in 0..<2 { #expect(try attempt(doorway).status == 429) }
        doorway.now = UnixTime(milliseconds: TokenForge.now.milliseconds + 59_999)
        #expect(try attempt(doorway).status == 429)
        doorway.now = TokenForge.now.adding(seconds: 60)
        for _ in 0..<3 { #expect(try attempt(doorway).status == 400) }
        #expect(try attempt(doorway).status == 429)
    }

    @Test func `429 says when to come back, and which limit it was`() throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 1, seconds: 60)])
        doorway.now = TokenForge.now.adding(seconds: 17)
        _ = try attempt(doorway)
        let answer = try attempt(doorway)
        #expect(answer.status == 429)
        #expect(answer.code == "too_many_requests")
        #expect(answer.headers["retry-after"] == "43")
        #expect(answer.headers["ratelimit-policy"] == #""sign-in";q=1;w=60"#)
        #expect(answer.headers["ratelimit"] == #""sign-in";r=0;t=43"#)
        #expect(answer.json["detail"] == "Demasiados intentos. Espera un momento e intenta de nuevo.")
        #expect(answer.log["outcome"] == "too_many_requests" && answer.log["reason"] == "sign-in")
        #expect(!answer.log.text.contains("192.0.2.1"))
        doorway.now = UnixTime(milliseconds: TokenForge.now.milliseconds + 59_999)
        #expect(try attempt(doorway).headers["retry-after"] == "1")
    }

    @Test func `An IPv4 address counts for itself, however it is written, and IPv6 by its /64`() throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 1, seconds: 60)])
        for (address, status) in [
            ("192.0.2.1", 400), ("192.0.2.2", 400), ("::ffff:192.0.2.1", 429), ("2001:db8:0:1::1", 400),
            ("2001:db8:0:1:ffff:ffff:ffff:ffff", 429), ("2001:0DB8::1:0:0:0:7", 429), ("2001:db8:0:2::1", 400),
        ] {
            #expect(try attempt(doorway, from: address).status == status, "\(address)")
        }
    }

    @Test func `A header of the client's does not make another address of it`() throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 1, seconds: 60)])
        func send(_ doorway: Doorway, _ forwarded: String) throws -> Int {
            try doorway.answer(
                to: .success(
                    Request(
                        method: "POST", path: "/auth/apple",
                        headers: [
                            "content-type": "application/json", "x-forwarded-for": forwarded, "x-real-ip": forwarded,
                            "forwarded": "for=\(forwarded)", "cf-connecting-ip": forwarded,
                        ], body: Array("{}".utf8), context: .init(sourceAddress: "192.0.2.1")))
            ).status
        }
        #expect(try send(doorway, "198.51.100.1") == 400)
        for index in 2..<6 { #expect(try send(doorway, "198.51.100.\(index)") == 429) }
        let behindProxy = Doorway(limits: [.signIn: RateLimit(attempts: 1, seconds: 60)], trustedProxies: 1)
        #expect(try send(behindProxy, "198.51.100.1") == 400)
        #expect(try send(behindProxy, "198.51.100.2") == 400)
        for index in 3..<6 { #expect(try send(behindProxy, "203.0.113.\(index), 198.51.100.2") == 429) }
    }

    @Test func `Refreshes are counted by session, and apart from sign-ins`() throws {
        let doorway = Doorway(limits: [
            .refresh: RateLimit(attempts: 2, seconds: 60), .signIn: RateLimit(attempts: 2, seconds: 60),
        ])
        var one = try doorway.signIn().refreshToken
        let two = try doorway.signIn().refreshToken
        #expect(try doorway.signIn().status == 429)
        for _ in 0..<2 { one = try doorway.send("/auth/refresh", refreshToken: one).refreshToken }
        let answer = try doorway.send("/auth/refresh", refreshToken: one)
        #expect(answer.status == 429)
        #expect(answer.headers["ratelimit-policy"] == #""refresh";q=2;w=60"#)
        #expect(try doorway.send("/auth/refresh", refreshToken: two).status == 200)
        // A refusal is no use: the token is good when the window is over.
        doorway.now = TokenForge.now.adding(seconds: 60)
        #expect(try doorway.send("/auth/refresh", refreshToken: one).status == 200)
        #expect(try doorway.send("/auth/logout", refreshToken: two).status == 204)
    }

    /// Session ids stand in access tokens, which other services see.
    @Test func `Who only knows a session's id cannot use up its refreshes, nor fill the store with what he makes up`()
        throws
    {
        let counter = CountingCounter()
        let doorway = Doorway(limits: [.refresh: RateLimit(attempts: 1, seconds: 60)], counter: counter)
        let good = try doorway.signIn().refreshToken
        let id = try #require(RefreshToken(good)).sessionID
        for _ in 0..<5 {
            for session in [
                id, UUIDv7(at: TokenForge.now, random: [UInt8](repeating: .random(in: 0...255), count: 10)),
            ] {
                let madeUp = RefreshToken(
                    sessionID: session, secret: SecretBytes([UInt8](repeating: 1, count: 32)), salt: [2],
                    using: TokenForge.cryptography)
                #expect(try doorway.send("/auth/refresh", refreshToken: madeUp.text).status == 401)
            }
        }
        #expect(counter.keys.isEmpty)
        #expect(try doorway.send("/auth/refresh", refreshToken: good).status == 200)
        #expect(counter.keys.count == 1)
    }

    @Test func `A counter that fails is an outage, and nobody gets in uncounted`() throws {
        let down = FailingUsers(error: .unavailable(reason: "disk is full"))
        for (limits, path) in [
            ([RateLimiter.Subject.signIn: RateLimit(attempts: 9, seconds: 9)], "sign-in"),
            ([.refresh: RateLimit(attempts: 9, seconds: 9)], "refresh"),
        ] {
            let store = MemoryUserStore()
            let token = try Doorway(users: store).signIn().refreshToken
            let doorway = Doorway(users: store, limits: limits, counter: down)
            let answer =
                path == "sign-in" ? try doorway.signIn() : try doorway.send("/auth/refresh", refreshToken: token)
            #expect(answer.status == 503, "\(path)")
            #expect(answer.code == "store_unavailable")
            #expect(answer.headers["retry-after"] != nil)
            #expect(answer.log["reason"] == "disk is full")
        }
    }

    @Test func `What is counted tells no address to who reads the store`() throws {
        let counter = CountingCounter()
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 9, seconds: 60)], counter: counter)
        _ = try attempt(doorway, from: "192.0.2.1")
        let key = try #require(counter.keys.first)
        #expect(key.bytes.count == 16)
        let digest = TokenForge.cryptography.sha256([192, 0, 2, 1])
        #expect(!key.bytes.contains([192, 0, 2, 1]) && key.bytes != Array(digest[..<16]))
    }
}

/// A counter that remembers what it was asked to count.
private final class CountingCounter: AttemptCounter {
    private let store = MemoryUserStore()
    private(set) var keys: Set<AttemptKey> = []

    func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        keys.insert(key)
        return try store.count(key, window: window, of: seconds)
    }
}
