import Foundation
import TestSupport
import Testing

/// Every case of `events/`, sent to the program as a person would: by pipe, one process each.
@Suite struct GoldenEventTests {
    #if SQLite
    @Test func everyEventGetsTheResponseBesideIt() throws {
        let site = try FunctionSite()
        var comparison = GoldenComparison()
        let events = try GoldenEvent.all()
        #expect(events.count > 40)
        for golden in events {
            let ran = try site.run(input: golden.filled(in: site.environment))
            #expect(ran.status == 0, "\(golden)")
            var actual = try #require(JSONSerialization.jsonObject(with: ran.output) as? [String: Any])
            let text = actual["body"] as? String ?? ""
            if !text.isEmpty { actual["body"] = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
            let expected = try JSONSerialization.jsonObject(with: Data(contentsOf: golden.expected))
            for difference in comparison.differences(actual, expected) { Issue.record("\(golden): \(difference)") }
            let lines = ran.errors.split(separator: 0x0A)
            #expect(lines.count == 1, "\(golden): one log line a request")
        }
    }
    #endif

    /// The same in one process: a line each.
    @Test func theSameEventsAsLinesGetTheSameResponses() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_STORE"] = "memory:"
        var comparison = GoldenComparison()
        let events = try GoldenEvent.all()
        let input = try events.map { try $0.filled(in: site.environment) }.reduce(Data(), +)
        let lines = try site.run("lines", input: input).output.split(separator: 0x0A)
        #expect(lines.count == events.count)
        for (golden, line) in zip(events, lines) {
            var actual = try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            let text = actual["body"] as? String ?? ""
            if !text.isEmpty { actual["body"] = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
            let expected = try JSONSerialization.jsonObject(with: Data(contentsOf: golden.expected))
            for difference in comparison.differences(actual, expected) { Issue.record("\(golden): \(difference)") }
        }
    }
}
