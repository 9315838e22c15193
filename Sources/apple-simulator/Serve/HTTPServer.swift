internal import Glibc
internal import JOSE

/// A small HTTP server for clients on this machine: one thread, all connections at once, one request each.
struct HTTPServer {
    private static let maximumConnections = 256

    let listener: Listener
    let router: Router
    let stop: StopSignal
    /// Rings when an errand is done.
    let bell: Bell

    func runUntilStopped() {
        var connections: [Int32: Connection] = [:]
        while true {
            let now = System.monotonicMilliseconds()
            for (descriptor, connection) in connections {
                if !connection.proceed(at: now, server: self) {
                    connections[descriptor] = nil
                } else if connection.deadline <= now {
                    connection.giveUp(server: self)
                    connections[descriptor] = nil
                }
            }
            let isFull = connections.count >= Self.maximumConnections
            var waiting = [
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.descriptor, events: isFull ? 0 : Int16(POLLIN), revents: 0),
            ]
            waiting += connections.map { pollfd(fd: $0.key, events: $0.value.events, revents: 0) }
            let next = connections.values.map(\.wakes).min() ?? now + 60_000
            // Interrupted, it has told nothing: then it is asked again.
            guard unsafe poll(&waiting, nfds_t(waiting.count), Int32(max(0, next - now))) >= 0 else { continue }
            if waiting[0].revents != 0 { return }
            if waiting[1].revents != 0 { bell.silence() }

            for entry in waiting.dropFirst(3) where entry.revents != 0 {
                guard let connection = connections[entry.fd] else { continue }
                if !connection.advance(at: System.monotonicMilliseconds(), server: self) { connections[entry.fd] = nil }
            }
            // Its time begins now, and not when this server began to wait for it.
            let arrival = System.monotonicMilliseconds()
            while waiting[2].revents != 0, connections.count < Self.maximumConnections, let client = listener.accept() {
                connections[client] = Connection(takingOwnershipOf: client, at: arrival)
            }
        }
    }

    /// A reply as bytes, as far as it is known.
    enum Outgoing {
        case bytes([UInt8])
        case later([UInt8], milliseconds: Int64)
        case errand(Errand, HTTPRequest)
        case nothing
    }

    func reply(to parsing: HTTPRequest.Parsing) -> Outgoing {
        switch parsing {
        case .incomplete: return .bytes(bytes(of: .text(408, "The request did not end"), to: nil))
        case .refused(let refusal): return .bytes(bytes(of: refusal, to: nil))
        case .complete(let request):
            switch router.reply(to: request) {
            case .now(let response): return .bytes(bytes(of: response, to: request))
            case .later(let response, let milliseconds):
                return .later(bytes(of: response, to: request), milliseconds: milliseconds)
            case .whenDone(let errand): return .errand(errand, request)
            case .never:
                report(request, status: nil, outcome: "fault: dropped")
                return .nothing
            }
        }
    }

    /// The bytes of the response; its line goes to the log.
    func bytes(of response: HTTPResponse, to request: HTTPRequest?) -> [UInt8] {
        report(request, status: response.status, outcome: response.outcome)
        return response.serialized(date: Self.date(System.now()), withBody: request?.method != "HEAD")
    }

    /// As JSON, so that nothing in a path can write a line of its own.
    private func report(_ request: HTTPRequest?, status: Int?, outcome: String?) {
        var line: JSON.Object = [
            "time": .integer(System.now().seconds), "method": .string(String((request?.method ?? "-").prefix(16))),
            "path": .string(String((request?.path ?? "-").prefix(256))),
            "status": status.map { .integer(Int64($0)) } ?? .null,
        ]
        if let outcome { line["outcome"] = .string(outcome) }
        Descriptor.printError(JSON.object(line).text)
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
