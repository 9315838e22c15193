internal import Glibc
internal import JOSE

/// A small HTTP server for clients on this machine: one thread, all connections at once, one request each.
struct HTTPServer {
    private static let maximumConnections = 256

    let listener: Listener
    let router: Router
    let stop: StopSignal

    func runUntilStopped() {
        var connections: [Int32: Connection] = [:]
        while true {
            let now = System.monotonicMilliseconds()
            for (descriptor, connection) in connections where connection.deadline <= now {
                connection.giveUp(answer: answer)
                connections[descriptor] = nil
            }
            let isFull = connections.count >= Self.maximumConnections
            var waiting = [
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.descriptor, events: isFull ? 0 : Int16(POLLIN), revents: 0),
            ]
            waiting += connections.map { pollfd(fd: $0.key, events: $0.value.events, revents: 0) }
            let next = connections.values.map(\.deadline).min() ?? now + 60_000
            // Interrupted, it has told nothing: then it is asked again.
            guard unsafe poll(&waiting, nfds_t(waiting.count), Int32(next - now)) >= 0 else { continue }
            if waiting[0].revents != 0 { return }

            for entry in waiting.dropFirst(2) where entry.revents != 0 {
                guard let connection = connections[entry.fd] else { continue }
                if !connection.advance(answer: answer) { connections[entry.fd] = nil }
            }
            while waiting[1].revents != 0, connections.count < Self.maximumConnections, let client = listener.accept() {
                connections[client] = Connection(takingOwnershipOf: client, at: now)
            }
        }
    }

    /// The bytes of the response, and its line in the log.
    private func answer(_ parsing: HTTPRequest.Parsing) -> [UInt8] {
        let response: HTTPResponse
        var method = "-"
        var path = "-"
        switch parsing {
        case .incomplete: response = .text(408, "The request did not end")
        case .refused(let refusal): response = refusal
        case .complete(let request):
            (method, path) = (request.method, request.path)
            response = router.respond(to: request)
        }
        let now = System.now()
        // As JSON, so that nothing in a path can write a line of its own.
        let line: JSON = [
            "time": .integer(now.seconds), "method": .string(String(method.prefix(16))),
            "path": .string(String(path.prefix(256))), "status": .integer(Int64(response.status)),
        ]
        Descriptor.printError(line.text)
        return response.serialized(date: Self.date(now), withBody: method != "HEAD")
    }

    /// RFC 9110 §5.6.7
    private static func date(_ time: UnixTime) -> String {
        var seconds = time_t(time.seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        let day = unsafe "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return unsafe "\(day) \(parts.tm_year + 1900) \(clock) GMT"
    }
}
