internal import Accounts
internal import AuthFunction
internal import Glibc
internal import JOSE

/// The plain doorway: events on standard input, responses on standard output, the log on standard error.
enum EventLoop {
    /// One event, one response.
    static func serveOne() -> Int32 {
        let service = Service.start()
        if isatty(STDIN_FILENO) == 1 {
            Descriptor.printError(
                "auth-apple: waiting for one JSON event on standard input (auth-apple --help says more)")
        }
        let (isAnswered, errands) = answer(Descriptor.readAll(STDIN_FILENO, limit: Event.maximumSize), with: service)
        // The client has its answer: whoever reads it need not wait for what comes now.
        close(STDOUT_FILENO)
        service.afterResponse(errands)
        return isAnswered ? service.exitStatus : ExitStatus.inputOutput
    }

    /// One event a line, until end of input. Empty lines are passed over.
    static func serveLines() -> Int32 {
        let service = Service.start()
        var lines = LineReader(descriptor: STDIN_FILENO, limit: Event.maximumSize)
        while let line = lines.next() {
            if case .bytes(let event) = line, event.isEmpty { continue }
            let (isAnswered, errands) = answer(line, with: service)
            guard isAnswered else { return ExitStatus.inputOutput }
            service.afterResponse(errands)
        }
        return service.exitStatus
    }

    /// Not answered when the event could not be read, or the answer not be written: there is nobody to go on for.
    private static func answer(
        _ input: Input, with service: Service
    ) -> (isAnswered: Bool, errands: [Errand]) {
        let event: Event
        var isRead = true
        switch input {
        case .bytes(let bytes): event = Event(bytes, basePath: service.basePath)
        case .tooLong: event = Event(.contentTooLarge)
        case .unreadable:
            isRead = false
            event = Event(.invalidRequest([.init("event", "cannot_be_read")]))
        }
        let exchange = service.respond(to: event.request.map(Self.withoutAddress))
        let isWritten = Descriptor.write(event.bytes(of: exchange.response), to: STDOUT_FILENO)
        Descriptor.printError(exchange.log.json.text)
        if !isWritten { Report.logLostAnswer(to: exchange.log.requestID) }
        return (isRead && isWritten, exchange.errands)
    }

    /// Whoever writes the event writes all of it; under OpenFaaS that is the client. So an address that stands in it, in whatever
    /// runtime's shape, is nobody's word: it must not come into the audit, nor be what attempts are counted by.
    private static func withoutAddress(_ request: Request) -> Request {
        var request = request
        request.context.sourceAddress = nil
        request.headers.remove("x-forwarded-for")
        return request
    }
}
