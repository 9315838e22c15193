internal import Glibc

/// One client: a request comes in, one response goes out.
///
/// Nothing here waits: a client that is slow keeps only itself waiting, and only until its deadline.
final class Connection {
    private static let milliseconds: Int64 = 5000
    /// Longer than an errand's own limit.
    private static let errandMilliseconds: Int64 = 20_000

    private enum State {
        case reading([UInt8])
        /// The response is known, and is kept back until then.
        case waiting(until: Int64, [UInt8])
        case errand(Errand, HTTPRequest)
        case writing(ArraySlice<UInt8>)
        /// The response is sent; what the client still sends is thrown away until it closes, or the system might take the
        /// response back (RFC 9112 §9.6).
        case draining
    }

    let descriptor: Int32
    private(set) var deadline: Int64
    private var state = State.reading([])

    init(takingOwnershipOf descriptor: Int32, at now: Int64) {
        self.descriptor = descriptor
        deadline = now + Self.milliseconds
    }

    deinit {
        close(descriptor)
    }

    /// What it waits for, as `poll` names it; nothing but its end while it waits for us.
    var events: Int16 {
        switch state {
        case .reading, .draining: Int16(POLLIN)
        case .waiting, .errand: 0
        case .writing: Int16(POLLOUT)
        }
    }

    /// When it is to be looked at again, whatever its client does.
    var wakes: Int64 {
        if case .waiting(let time, _) = state { time } else { deadline }
    }

    /// What is kept back goes out once its time has come or its errand is done. False when the connection is done.
    func proceed(at now: Int64, server: HTTPServer) -> Bool {
        switch state {
        case .waiting(let time, let bytes) where time <= now: state = .writing(bytes[...])
        case .errand(let errand, let request):
            guard let response = errand.result else { return true }
            state = .writing(server.bytes(of: response, to: request)[...])
        case .waiting, .reading, .writing, .draining: return true
        }
        return advance(at: now, server: server)
    }

    /// Goes on as far as it can without waiting. False when the connection is done.
    func advance(at now: Int64, server: HTTPServer) -> Bool {
        switch state {
        case .waiting, .errand:
            // The client has gone.
            return false
        case .reading(var received):
            guard let chunk = Descriptor.read(descriptor, count: 16_384) else { return Self.isOnlyNotReady }
            guard !chunk.isEmpty else { return false }
            received += chunk
            let parsing = HTTPRequest.parse(received)
            if case .incomplete = parsing {
                state = .reading(received)
                return true
            }
            switch server.reply(to: parsing) {
            case .bytes(let bytes): state = .writing(bytes[...])
            case .later(let bytes, let milliseconds):
                (state, deadline) = (.waiting(until: now + milliseconds, bytes), now + milliseconds + Self.milliseconds)
                return true
            case .errand(let errand, let request):
                (state, deadline) = (.errand(errand, request), now + Self.errandMilliseconds)
                return true
            case .nothing: return false
            }
            return advance(at: now, server: server)
        case .writing(var rest):
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count >= 0 else {
                    state = .writing(rest)
                    return Self.isOnlyNotReady
                }
                rest = rest.dropFirst(count)
            }
            shutdown(descriptor, Int32(SHUT_WR))
            state = .draining
            return true
        case .draining:
            guard let chunk = Descriptor.read(descriptor, count: 16_384) else { return Self.isOnlyNotReady }
            return !chunk.isEmpty
        }
    }

    /// The deadline has passed: a client that began and did not end its request is told so, if it listens.
    func giveUp(server: HTTPServer) {
        guard case .reading(let received) = state, !received.isEmpty,
            case .bytes(let bytes) = server.reply(to: .incomplete)
        else { return }
        _ = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private static var isOnlyNotReady: Bool { errno == EAGAIN || errno == EINTR }
}
