import CurlHTTP
import Foundation
import JOSE
import TestSupport
import Testing

@testable import KeyCache

/// The cache and the HTTP client together, against a real HTTPS server that fails in every way it knows.
@Suite(.serialized) struct KeyCacheHTTPSTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: LoopbackServer.Answer
        /// What the log says; for what has no answer, the code.
        let note: String

        init(_ description: String, _ answer: LoopbackServer.Answer, _ note: String) {
            (testDescription, self.answer, self.note) = (description, answer, note)
        }
    }

    static let good = LoopbackServer.Answer(
        200, Keys.body("A", "B"), headers: [["Cache-Control", "max-age=600"], ["ETag", "\"v1\""]])

    /// As good as `good`, but that one thing.
    static func good(_ change: (inout LoopbackServer.Answer) -> Void) -> LoopbackServer.Answer {
        LoopbackServer.Answer(200, Keys.body("A", "B", "C")).with(change)
    }

    static let faults: [Fault] = [
        Fault("TLS 1.1", good { $0.tls = .only11 }, "tls"),
        Fault("wrong host name", good { $0.tls = .wrongHost }, "tls"),
        Fault("untrusted authority", good { $0.tls = .untrusted }, "tls"),
        Fault("expired certificate", good { $0.tls = .expired }, "tls"),
        Fault(
            "403 with HTML", .init(403, "<html>Forbidden</html>", headers: [["Content-Type", "text/html"]]),
            "status 403"),
        Fault("500", good { $0.status = 500 }, "status 500"),
        Fault("200 with HTML", .init(200, "<html></html>"), "the body is not a key set"),
        Fault("garbage", .init(200, "{\"keys\":[}"), "the body is not a key set"),
        Fault("nothing", .init(200, ""), "the body is not a key set"),
        Fault("empty set", .init(200, "{\"keys\":[]}"), "the key set has no usable key"),
        Fault("no usable key", .init(200, "{\"keys\":[{\"kty\":\"OKP\"}]}"), "the key set has no usable key"),
        Fault("1 MiB body", .init(200, String(repeating: " ", count: 1 << 20) + Keys.body("A")), "too_large"),
        Fault("half a body", good { $0.truncated = true }, "transfer"),
        Fault("slow body", good { $0.trickle = 0.05 }, "timeout"),
        Fault("silence", good { $0.silent = true }, "timeout"),
    ]

    /// A new process. `total` is shorter than in earnest where the server is slow on purpose.
    static func cache(
        at stage: Stage, for server: LoopbackServer, total: Duration = .seconds(5)
    ) throws -> KeyCache {
        let url = try HTTPURL(server.url())
        let client = HTTPClient(userAgent: "auth-apple/test", certificateAuthorities: server.authority)
        return try #require(
            KeyCache(path: stage.path, url: url.text, now: { stage.now }) { tag throws(KeyFetchFailure) in
                try client.fetchKeys(from: url, entityTag: tag, total: total)
            })
    }

    @Test(arguments: faults) func oldKeysOutliveTheFaultForThreeDays(_ fault: Fault) throws {
        try LoopbackServer.run(Self.good) { server in
            let stage = Stage()
            let first = try Self.cache(at: stage, for: server)
            #expect(first.ask("A").isKnown)
            try server.answer(fault.answer)

            stage.advance(600)
            let stale = try Self.cache(at: stage, for: server, total: .seconds(1.5))
            #expect(stale.ask("A").isKnown)
            stale.refreshIfStale()
            var report = stale.takeReport()
            #expect(report.outcome == .stale)
            // A process that another test is just starting shares our descriptors for a moment, and with them the lock.
            for _ in 0..<100 where report.notes.isEmpty {
                usleep(20_000)
                stale.refreshIfStale()
                report.notes = stale.takeReport().notes
            }
            #expect(report.notes.count == 1)
            #expect(report.notes.first?.description.contains(fault.note) == true, "\(report.notes)")

            stage.advance(72 * 3600 - 600)
            let last = try Self.cache(at: stage, for: server)
            #expect(last.ask("B").isKnown)

            stage.advance(1)
            let late = try Self.cache(at: stage, for: server, total: .seconds(1.5))
            #expect(late.ask("A").retryAfter == 10)
            #expect(late.takeReport().outcome == .unavailable)

            // And when the server is itself again, so are we.
            try server.answer(Self.good)
            stage.advance(10)
            let recovered = try Self.cache(at: stage, for: server)
            #expect(recovered.ask("A").isKnown)
        }
    }

    @Test func aPortThatRefusesIsAnOutageToo() throws {
        try LoopbackServer.run(Self.good) { server in
            let stage = Stage()
            let cache = try Self.cache(at: stage, for: server)
            #expect(cache.ask("A").isKnown)
            try server.listen(false)
            stage.advance(72 * 3600)
            let next = try Self.cache(at: stage, for: server)
            #expect(next.ask("A").isKnown)
            #expect(next.ask("C").retryAfter == 60)
            stage.advance(1)
            #expect(next.ask("A").retryAfter == 9)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], [true, false])
    func aRedirectIsAFailedFetchAndNobodyIsAskedThere(status: Int, toAnotherHost: Bool) throws {
        try LoopbackServer.run(Self.good) { server in
            let target = toAnotherHost ? "https://127.0.0.1:\(server.port)/elsewhere" : "/elsewhere"
            try server.answer(.init(status, Keys.body("A"), headers: [["Location", target]]))
            let cache = try Self.cache(at: Stage(), for: server)
            #expect(cache.ask("A").retryAfter == 10)
            #expect(cache.takeReport().notes == [.fetchFailed(.status(status))])
            #expect(try server.requests().map(\.path) == ["/auth/keys"])
        }
    }

    @Test func theRenewalSendsTheEntityTagAndTakes304() throws {
        try LoopbackServer.run(Self.good { $0.etag = "\"v1\"" }) { server in
            let stage = Stage()
            let cache = try Self.cache(at: stage, for: server)
            #expect(cache.ask("A").isKnown)
            stage.advance(3600)
            #expect(cache.ask("A").isKnown)
            cache.refreshIfStale()
            #expect(cache.takeReport().notes == [.renewed])
            #expect(try server.requests().map { $0.headers["if-none-match"] } == [nil, "\"v1\""])
            #expect(try server.requests().map(\.connection) == [1, 1])
            #expect(cache.ask("A").isKnown)
            #expect(cache.takeReport().outcome == .hit)
        }
    }

    @Test func anAnswerThatSaysNothingOfCachingIsFreshForAnHour() throws {
        try LoopbackServer.run(.init(200, Keys.body("A"))) { server in
            let stage = Stage()
            let cache = try Self.cache(at: stage, for: server)
            #expect(cache.ask("A").isKnown)
            _ = cache.takeReport()
            for (wait, outcome) in [(3599, .hit), (1, .stale)] as [(Int64, KeyCacheReport.Outcome)] {
                stage.advance(wait)
                #expect(cache.ask("A").isKnown)
                #expect(cache.takeReport().outcome == outcome)
            }
        }
    }
}
