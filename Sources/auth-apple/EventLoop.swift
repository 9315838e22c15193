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
        let event = Descriptor.readAll(STDIN_FILENO, limit: Event.maximumSize)
        answer(event.map { .line($0[...]) } ?? .tooLong, with: service)
        // The client has its answer: whoever reads it need not wait for what comes now.
        close(STDOUT_FILENO)
        service.afterResponse()
        return service.exitStatus
    }

    /// One event a line, until end of input. Empty lines are passed over.
    static func serveLines() -> Int32 {
        let service = Service.start()
        var lines = LineReader(descriptor: STDIN_FILENO, limit: Event.maximumSize)
        while let line = lines.next() {
            if case .line(let event) = line, event.isEmpty { continue }
            guard answer(line, with: service) else { break }
            service.afterResponse()
        }
        return service.exitStatus
    }

    @discardableResult
    private static func answer(_ line: LineReader.Line, with service: Service) -> Bool {
        let event =
            switch line {
            case .line(let bytes): Event(bytes, basePath: service.basePath)
            case .tooLong: Event(.contentTooLarge)
            }
        let exchange = service.respond(to: event.request)
        let isWritten = Descriptor.write(event.bytes(of: exchange.response), to: STDOUT_FILENO)
        Descriptor.printError(exchange.log.json.text)
        return isWritten
    }
}
