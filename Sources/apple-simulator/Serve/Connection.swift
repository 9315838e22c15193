internal import Glibc

/// One client: a request comes in, one response goes out.
///
/// Nothing here waits: a client that is slow keeps only itself waiting, and only until its deadline.
final class Connection {
    private static let milliseconds: Int64 = 5000

    private enum State {
        case reading([UInt8])
        case writing(ArraySlice<UInt8>)
        /// The response is sent; what the client still sends is thrown away until it closes, or the system might take the
        /// response back (RFC 9112 §9.6).
        case draining
    }

    let descriptor: Int32
    let deadline: Int64
    private var state = State.reading([])

    init(takingOwnershipOf descriptor: Int32, at now: Int64) {
        self.descriptor = descriptor
        deadline = now + Self.milliseconds
    }

    deinit {
        close(descriptor)
    }

    /// What it waits for, as `poll` names it.
    var events: Int16 {
        if case .writing = state { Int16(POLLOUT) } else { Int16(POLLIN) }
    }

    /// Goes on as far as it can without waiting. False when the connection is done.
    func advance(answer: (HTTPRequest.Parsing) -> [UInt8]) -> Bool {
        switch state {
        case .reading(var received):
            guard let chunk = Descriptor.read(descriptor, count: 16_384) else { return Self.isOnlyNotReady }
            guard !chunk.isEmpty else { return false }
            received += chunk
            let parsing = HTTPRequest.parse(received)
            if case .incomplete = parsing {
                state = .reading(received)
                return true
            }
            state = .writing(answer(parsing)[...])
            return advance(answer: answer)
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
    func giveUp(answer: (HTTPRequest.Parsing) -> [UInt8]) {
        guard case .reading(let received) = state, !received.isEmpty else { return }
        let bytes = answer(.incomplete)
        _ = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private static var isOnlyNotReady: Bool { errno == EAGAIN || errno == EINTR }
}
