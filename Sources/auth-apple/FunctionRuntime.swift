/// The function runtime that started the process and drives it, told by variables that no request can set (a client's headers
/// arrive as `HTTP_…` or `Http_…`, if at all).
enum FunctionRuntime {
    /// AWS Lambda: an API to ask for one event after another.
    case lambda(authority: String)
    /// OpenWhisk's ActionLoop: lines in on standard input, lines out on descriptor 3.
    case actionLoop(wantsAcknowledgement: Bool)
    /// None of these: one event on standard input.
    case plain

    /// The one that this process was started by.
    init() {
        let wantsAcknowledgement = System.variable("__OW_WAIT_FOR_ACK") != nil
        self =
            if let authority = System.variable("AWS_LAMBDA_RUNTIME_API") {
                .lambda(authority: authority)
            } else if wantsAcknowledgement || System.variable("__OW_EXECUTION_ENV") != nil {
                .actionLoop(wantsAcknowledgement: wantsAcknowledgement)
            } else {
                .plain
            }
    }

    func serve() -> Int32 {
        switch self {
        case .lambda(let authority): LambdaLoop.serve(authority: authority)
        case .actionLoop(let wantsAcknowledgement): ActionLoop.serve(acknowledging: wantsAcknowledgement)
        case .plain: EventLoop.serveOne()
        }
    }
}
