internal import AuthFunction
internal import Glibc
internal import JOSE

/// The doorway of AWS Lambda: asks the Runtime API for an event, answers it, and asks again, until the box is taken away.
///
/// Keys are renewed between handing in a response and asking for the next event. By then the client has its answer, and the
/// box is not frozen before it asks: so the client never waits for it, and no fetch is cut in two by a freeze.
/// (https://aws.amazon.com/blogs/compute/running-code-after-returning-a-response-from-an-aws-lambda-function/)
///
/// The trace id that comes with an event is not put into the environment, as nothing here reads it there.
struct LambdaLoop {
    /// A call that fails is tried so often in all; then the process ends, for a loop that goes on without its API would spin
    /// and cost money.
    private static let attempts = 3
    private static let pauseMicroseconds: UInt32 = 50_000

    private let api: LambdaRuntimeAPI
    private let service: Service
    private let deadline: Deadline

    static func serve(authority: String) -> Int32 {
        let deadline = Deadline()
        let service = Service.start(deadline: deadline)
        let loop = LambdaLoop(api: LambdaRuntimeAPI(authority: authority), service: service, deadline: deadline)
        // A version that was deployed with provisioned concurrency takes no traffic before its boxes are ready, so it had
        // better fail now, while the one before still serves. Otherwise requests are coming already: each is answered 500.
        let provisioned = System.variable("AWS_LAMBDA_INITIALIZATION_TYPE") == "provisioned-concurrency"
        if provisioned, service.exitStatus != ExitStatus.success {
            loop.attempt { api throws(LambdaRuntimeAPI.Failure) in try api.reportInitialization(.notConfigured) }
            return service.exitStatus
        }
        return loop.run()
    }

    /// Ends only when the Runtime API does not answer any more.
    private func run() -> Int32 {
        while true {
            guard let invocation = attempt({ api throws(LambdaRuntimeAPI.Failure) in try api.next() }) else {
                return ExitStatus.software
            }
            deadline.time = Deadline.time(invocation.deadline)
            let event = Event(invocation.event[...], basePath: service.basePath, requestID: invocation.id)
            let exchange = service.respond(to: event.request)
            let isDelivered = deliver(event.bytes(of: exchange.response), to: invocation.id)
            Descriptor.printError(exchange.log.json.text)
            guard isDelivered else { return ExitStatus.software }
            service.afterResponse(exchange.errands)
        }
    }

    /// Hands in the response. False when Lambda can no longer be talked to.
    private func deliver(_ response: [UInt8], to id: String) -> Bool {
        let status = attempt { api throws(LambdaRuntimeAPI.Failure) in try api.respond(to: id, response) }
        switch status {
        case 202?, 200?: return true
        case 413?:
            // Lambda tells the client by itself, and a report on top would be a second response.
            Report.logRuntime("the response is larger than Lambda takes")
            return true
        case let status? where (400..<500).contains(status):
            // Not ours to answer any more: timed out, or answered before. The next one may be.
            Report.logRuntime("the response was refused: status \(status)")
            return true
        case let status?:
            // "Non-recoverable state. Runtime should exit promptly."
            Report.logRuntime("the response was not taken: status \(status)")
            return false
        case nil:
            return attempt { api throws(LambdaRuntimeAPI.Failure) in try api.report(.responseNotDelivered, on: id) }
                != nil
        }
    }

    /// Nil when the call failed as often as it may. What failed is in the log.
    @discardableResult
    private func attempt<Success>(
        _ call: (LambdaRuntimeAPI) throws(LambdaRuntimeAPI.Failure) -> Success
    ) -> Success? {
        for attempt in 1...Self.attempts {
            do throws(LambdaRuntimeAPI.Failure) {
                return try call(api)
            } catch {
                Report.logRuntime("\(error.reason) (attempt \(attempt) of \(Self.attempts))")
                if attempt < Self.attempts { usleep(Self.pauseMicroseconds << UInt32(attempt)) }
            }
        }
        return nil
    }
}
