internal import JOSE

/// Outages on order: so many of the next requests to an endpoint fail, answer late, or get no answer.
final class Faults {
    struct Fault {
        /// The path.
        var endpoint: String
        /// Answered instead of what the endpoint would say; nothing happens then.
        var status: Int?
        /// What the endpoint says, or the status, comes so many milliseconds late. What it does is done at once, so that a
        /// client that gives up has lost an answer and not a request.
        var delay: Int64 = 0
        /// The connection is closed without an answer, and nothing happens.
        var isDropped = false
        var times: Int64
    }

    static let maximumDelay: Int64 = 60_000
    private static let maximumCount = 100

    private var faults: [Fault] = []

    /// The latest to be ordered comes first.
    func order(_ fault: Fault) {
        faults.removeAll { $0.endpoint == fault.endpoint }
        guard fault.times > 0, faults.count < Self.maximumCount else { return }
        faults.append(fault)
    }

    func clear() { faults = [] }

    /// The fault of this request, which is one fewer then.
    func next(at endpoint: String) -> Fault? {
        guard let index = faults.firstIndex(where: { $0.endpoint == endpoint }) else { return nil }
        let fault = faults[index]
        faults[index].times -= 1
        if faults[index].times == 0 { faults.remove(at: index) }
        return fault
    }

    var json: JSON {
        .array(
            faults.map { fault in
                [
                    "endpoint": .string(fault.endpoint),
                    "status": fault.status.map { .integer(Int64($0)) } ?? .null, "delay": .integer(fault.delay),
                    "drop": .bool(fault.isDropped), "times": .integer(fault.times),
                ]
            })
    }
}
