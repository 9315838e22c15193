import Foundation
import TestSupport
import Testing

#if SQLite
/// The samples of `events/runtimes`, each by pipe, in the order of their numbers and in one store: what is shown to people is
/// what the machine does.
@Suite struct RuntimeEventFilesTests {
    @Test func everySampleGetsItsResponse() throws {
        let site = try FunctionSite()
        let samples = try GoldenEvent.all(in: "events/runtimes")
        #expect(samples.count >= 12)
        var comparison = GoldenComparison()
        for sample in samples {
            let ran = try site.run(input: sample.filled(in: site.environment))
            let expected = try JSONSerialization.jsonObject(with: Data(contentsOf: sample.expected)) as? [String: Any]
            var actual = try #require(try JSONSerialization.jsonObject(with: ran.output) as? [String: Any])
            // The expected body is written as JSON; but for OpenWhisk's it is a string on the wire.
            if let text = actual["body"] as? String, expected?["body"] is [String: Any] {
                actual["body"] = try JSONSerialization.jsonObject(with: Data(text.utf8))
            }
            let differences = comparison.differences(actual, expected)
            #expect(differences.isEmpty, "\(sample)")
        }
    }
}
#endif
