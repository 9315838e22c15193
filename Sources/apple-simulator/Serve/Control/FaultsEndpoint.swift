internal import JOSE

/// `/simulator/faults`: POST orders an outage, GET says which are due, DELETE takes all back.
struct FaultsEndpoint: PromptEndpoint {
    let path = "/simulator/faults"
    let methods = ["GET", "POST", "DELETE"]
    let faults: Faults
    /// The paths that can fail.
    let endpoints: [String]

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        switch request.method {
        case "POST": faults.order(try fault(request))
        case "DELETE": faults.clear()
        default: break
        }
        return .json(200, ["faults": faults.json])
    }

    private func fault(_ request: HTTPRequest) throws(ControlError) -> Faults.Fault {
        let body = try request.controlBody(members: ["endpoint", "status", "delay", "drop", "times"])
        guard let endpoint = try body.text("endpoint"), endpoints.contains(endpoint) else {
            throw ControlError("endpoint is none of \(endpoints.joined(separator: ", "))")
        }
        let fault = Faults.Fault(
            endpoint: endpoint, status: try body.number("status", in: 200...599).map { Int($0) },
            delay: try body.number("delay", in: 0...Faults.maximumDelay) ?? 0,
            isDropped: try body.flag("drop") ?? false, times: try body.number("times", in: 0...1_000_000) ?? 1)
        guard fault.times == 0 || fault.status != nil || fault.delay > 0 || fault.isDropped else {
            throw ControlError("there is no status, delay (milliseconds) or drop")
        }
        return fault
    }
}
