// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// Keys that are past their freshness are renewed when the answer has been written, and nobody waits for it.
@Suite struct CGIRefreshTests {
    @Test(arguments: WebServer.Kind.allCases)
    func staleKeysAreRenewedWhileNobodyWaits(kind: WebServer.Kind) throws {
        try AppleKeysServer.run { apple in
            let site = try CGISite()
            site.environment["AUTH_APPLE_KEYS_URL"] = apple.url
            try WebServer.run(kind, site) { server in
                #expect(try server.signIn().status == 201)
                #expect(try apple.requests() == 1)

                try site.ageCache()
                let before = try site.fetchedAt()
                try apple.delay(3)
                let answer = try server.signIn()
                #expect(answer.status == 200)
                #expect(answer.seconds < 2.5, "the client waited for \(answer.seconds) s")
                #expect(try site.fetchedAt() == before, "the client had its answer before the keys were there")
                // Neither does the next request on the way, or the same connection's.
                let next = try server.signIn()
                #expect(next.status == 200 && next.seconds < 2.5)

                let end = Date(timeIntervalSinceNow: 20)
                while try site.fetchedAt() == before, Date() < end { usleep(50_000) }
                #expect(try site.fetchedAt() > before, "the keys were not renewed: \(server.log().suffix(800))")
                #expect(try apple.requests() == 2)
                #expect(Running.vanish(Installed.shared.program, within: 20))
            }
        }
    }
}

/// Apple's key endpoint on loopback, as slow as it is told to be.
struct AppleKeysServer {
    private let server: LoopbackServer
    private let answer: LoopbackServer.Answer

    var url: String { server.plainURL() }

    static func run(_ body: (AppleKeysServer) throws -> Void) throws {
        let keys = try String(contentsOf: Installed.shared.appleKeys, encoding: .utf8)
        let answer = LoopbackServer.Answer(200, keys, headers: [["Content-Type", "application/json"]])
        try LoopbackServer.run(answer) { try body(AppleKeysServer(server: $0, answer: answer)) }
    }

    func delay(_ seconds: Double) throws {
        try server.answer(answer.with { $0.delay = seconds })
    }

    func requests() throws -> Int { try server.requests().count }
}
#endif
