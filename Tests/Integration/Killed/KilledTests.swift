import Foundation
import TestSupport
import Testing

/// Processes that are killed at any moment: what was answered stands, and what was not answered can be asked again.
/// `Tests/kills.sh` runs the same with the release, a thousand times under each store.
@Suite(.serialized) struct KilledTests {
    @Test(arguments: KilledStore.all) func nothingThatWasAnsweredIsUndone(_ store: KilledStore) throws {
        let site = try FunctionSite()
        try store.serve(site) {
            let function = try KilledFunction(site)
            var ledger = Ledger()
            let began = Date()
            for _ in 0..<store.requests { try ledger.step(function, people: max(10, store.requests / 5)) }
            let seconds = Int(Date().timeIntervalSince(began))
            let figures = "\(function.answered) answered, \(function.lost) lost"
            #expect(min(function.answered, function.lost) >= store.requests / 10, "\(figures)")
            try ledger.check(function)
            if KilledStore.asked != nil { print("\(store.name): \(figures), \(seconds) s") }
        }
    }

    /// `memory:` lives in one process and dies with it. Nothing is promised but that what came out was whole, and that the
    /// next process begins anew.
    @Test func memoryDiesWithItsProcessAndTheNextOneWorks() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_STORE"] = "memory:"
        let function = try KilledFunction(site)
        let tokens = try (0..<10).map { try site.token("--subject", "001.memory.\($0)") }
        // Two sign-ins each, of which the first creates.
        let events = try tokens.flatMap { [try site.event(token: $0), try site.event(token: $0)] }
        let input = Data(events.joined(separator: Data("\n".utf8)))
        var counts: Set<Int> = []
        var answered = 0
        let rounds = (KilledStore.asked ?? 400) / events.count
        let began = Date()
        // Somewhat longer than it takes here to answer all.
        let whole = try Ran(function.program.path(), "lines", environment: site.environment, input: input)
        #expect(whole.status == 0)
        let window = Date().timeIntervalSince(began) * 1_200_000
        for _ in 0..<rounds {
            let lines = try function.linesUnlessKilled(input, ["lines"], within: window)
            counts.insert(lines.count)
            answered += lines.count
            for (index, line) in lines.enumerated() {
                let answer = try FunctionSite.Answer(output: line)
                #expect(answer.status == (index.isMultiple(of: 2) ? 201 : 200))
            }
            #expect(try function.answer(events[0]).status == 201)
        }
        #expect(counts.count > 2, "they were all killed at one place")
        if KilledStore.asked != nil {
            let lost = rounds * events.count - answered
            print("memory: \(answered) answered, \(lost) lost, \(Int(Date().timeIntervalSince(began))) s")
        }
    }
}
