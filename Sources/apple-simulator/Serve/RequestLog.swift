internal import JOSE

/// What came to Apple's endpoints and what became of it, for tests to look at. Never a token, a code, or anything else that
/// was sent.
final class RequestLog {
    private static let maximumCount = 1000

    private var entries: [JSON] = []

    func note(_ request: HTTPRequest, status: Int?, outcome: String) {
        if entries.count >= Self.maximumCount { entries.removeFirst() }
        entries.append([
            "time": .integer(System.now().milliseconds), "method": .string(request.method),
            "endpoint": .string(request.path), "status": status.map { .integer(Int64($0)) } ?? .null,
            "outcome": .string(outcome),
        ])
    }

    func clear() { entries = [] }

    var json: JSON { .array(entries) }
}
