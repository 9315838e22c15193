#if SQLite
import Foundation
import TestSupport
import Testing

/// Processes that are killed while they fetch Apple's keys: the cache file is whole or not there, nobody is kept waiting for a
/// lock, and what is torn is not believed.
@Suite(.serialized) struct KilledFetchTests {
    private let function: KilledFunction
    private let cache: URL
    private var site: FunctionSite { function.site }

    init() throws {
        function = try KilledFunction(FunctionSite())
        cache = function.site.folder.appending(path: "cache/apple-keys.json")
    }

    /// Apple's keys over TLS; a little late, so that some are killed while they wait.
    private func serving(_ body: (LoopbackServer) throws -> Void) throws {
        let keys = String(decoding: try site.simulator("keys").output, as: UTF8.self)
        let answer = LoopbackServer.Answer(200, keys, headers: [["Cache-Control", "max-age=600"]])
            .with { $0.delay = 0.005 }
        try LoopbackServer.run(answer) { server in
            site.environment["AUTH_APPLE_KEYS_URL"] = server.url()
            site.environment["AUTH_APPLE_CA_BUNDLE"] = server.authority
            try body(server)
        }
    }

    /// All times in the cache file, moved so far back.
    private func age(by seconds: Int64) throws {
        let text = try String(contentsOf: cache, encoding: .utf8)
        let aged = text.replacing(/"(ended_at|fetched_at|fresh_until)":(\d+)/) { match in
            #""\#(match.1)":\#((Int64(match.2) ?? 0) - seconds * 1000)"#
        }
        try Data(aged.utf8).write(to: cache)
    }

    /// That nobody holds the lock, by the rule of flock(2): a moment after the process is gone.
    private func expectNoLock() {
        let lock = open(cache.path() + ".lock", O_RDWR)
        guard lock >= 0 else { return }
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    }

    @Test func aFetchThatIsKilledLeavesAWholeCacheOrNone() throws {
        try serving { server in
            let event = try site.event(token: site.token("--subject", "001.keys"))
            #expect(try function.answer(event).status == 201)
            let whole = try Data(contentsOf: cache).count
            var (absent, kept, renewed) = (0, 0, 0)
            for round in 0..<(KilledStore.asked ?? 60) {
                // Without a cache; with keys that are too old; with stale ones, which are renewed after the answer.
                switch round % 3 {
                case 0: try? FileManager.default.removeItem(at: cache)
                case 1: try age(by: 73 * 3600)
                default: try age(by: 3600)
                }
                let before = try? Data(contentsOf: cache)
                if let answer = try function.answerInTrouble(event) { #expect(answer.status == 200) }
                expectNoLock()
                let after = try? Data(contentsOf: cache)
                switch after {
                case nil: absent += 1
                case before: kept += 1
                default:
                    renewed += 1
                    #expect(after?.count == whole)
                }
                let next = try function.run(input: event)
                #expect(try FunctionSite.Answer(output: next.output).status == 200)
                #expect(!String(decoding: next.errors, as: UTF8.self).contains("corrupt"))
            }
            #expect(min(absent, kept, renewed) > 0, "\(absent) absent, \(kept) kept, \(renewed) renewed")
            if KilledStore.asked != nil {
                print(
                    "keys: \(function.answered) answered, \(function.lost) lost; cache \(absent) absent, \(kept) kept, \(renewed) renewed"
                )
            }
        }
    }

    /// No kill tears it, since it is replaced whole; a disk that lost what was written could.
    @Test func aTornCacheIsNotBelieved() throws {
        try serving { server in
            let event = try site.event(token: site.token("--subject", "001.keys"))
            #expect(try function.answer(event).status == 201)
            let whole = try Data(contentsOf: cache)
            for length in [0, 1] + (0..<8).map({ _ in Int.random(in: 2..<whole.count) }) + [whole.count - 1] {
                try whole.prefix(length).write(to: cache)
                let fetches = try server.requests().count
                let ran = try function.run(input: event)
                #expect(try FunctionSite.Answer(output: ran.output).status == 200)
                #expect(String(decoding: ran.errors, as: UTF8.self).contains("corrupt"))
                #expect(try server.requests().count == fetches + 1)
                #expect(try Data(contentsOf: cache).count == whole.count)
            }
        }
    }
}
#endif
