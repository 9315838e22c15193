#if os(Linux)
internal import FoundationEssentials
@unsafe @preconcurrency internal import Glibc

/// One visit of the browser by way of a loopback listener, which lives on a thread of its own.
final class LoopbackVisit: BrowserVisit {
    private static let maximumConnections = 16
    /// How long a client may take to say what it wants. Browsers open connections that they never use.
    private static let connectionMilliseconds: Int64 = 5000

    let callback: URL?

    private let address: LoopbackAddress
    private let listener: LoopbackListener
    private let milliseconds: Int64
    private let open: @Sendable (URL) throws -> Void
    private let outcome = OneShot<Result<URL?, BrowserFailure>>()

    init(
        address: LoopbackAddress, listener: LoopbackListener, seconds: Int64,
        open: @escaping @Sendable (URL) throws -> Void
    ) {
        self.address = address
        self.listener = listener
        milliseconds = seconds * 1000
        self.open = open
        callback =
            address.isCallback ? URL(string: "http://\(address.host):\(listener.port)\(address.path)") : nil
    }

    func run(_ url: URL, isExpected: @escaping @Sendable (URL) -> Bool) async throws(BrowserFailure) -> URL? {
        let door = LoopbackDoor(
            authority: "\(address.host):\(listener.port)", callbackPath: address.isCallback ? address.path : nil,
            destination: url.absoluteString, isExpected: isExpected)
        let isStarted =
            DetachedThread.start { self.outcome.settle(self.serve(door)) }
            && DetachedThread.start { self.show(door) }
        if !isStarted { end(.failure(.cannotStart)) }
        return try await outcome.value.get()
    }

    func cancel() {
        end(.failure(.cancelled))
    }

    private func end(_ result: Result<URL?, BrowserFailure>) {
        outcome.settle(result)
        listener.wake()
    }

    private func show(_ door: LoopbackDoor) {
        do {
            guard !outcome.isSettled, let entrance = URL(string: door.entrance) else { return }
            try open(entrance)
        } catch {
            end(.failure(.cannotStart))
        }
    }

    /// Answers whoever comes until the redirect has come, the visit was ended, or time is up.
    private func serve(_ door: LoopbackDoor) -> Result<URL?, BrowserFailure> {
        var door = door
        var clients: [Int32: (received: [UInt8], deadline: Int64)] = [:]
        defer {
            for descriptor in clients.keys { close(descriptor) }
            // Now, and not when the visit goes: whoever opened the browser may go on as long as the browser does.
            listener.closePort()
        }
        let deadline = Self.now() + milliseconds
        while true {
            let now = Self.now()
            if now >= deadline { return .failure(.timeout) }
            for (descriptor, client) in clients where client.deadline <= now {
                close(descriptor)
                clients[descriptor] = nil
            }
            let isFull = clients.count >= Self.maximumConnections
            var waiting = [
                pollfd(fd: listener.alarm, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.descriptor, events: isFull ? 0 : Int16(POLLIN), revents: 0),
            ]
            waiting += clients.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let next = min(clients.values.map(\.deadline).min() ?? deadline, deadline)
            guard unsafe poll(&waiting, nfds_t(waiting.count), Int32(clamping: next - now)) >= 0 else { continue }
            if waiting[0].revents != 0 { return .failure(.cancelled) }
            for entry in waiting.dropFirst(2) where entry.revents != 0 {
                guard let client = clients[entry.fd] else { continue }
                guard let received = Self.read(entry.fd, after: client.received) else {
                    close(entry.fd)
                    clients[entry.fd] = nil
                    continue
                }
                clients[entry.fd]?.received = received
                guard let head = LoopbackDoor.head(of: received) else { continue }
                let answer = door.answer(to: head)
                Self.send(answer.response, to: entry.fd)
                close(entry.fd)
                clients[entry.fd] = nil
                if let result = answer.result { return .success(result) }
            }
            if waiting[1].revents != 0, let client = listener.accept() {
                clients[client] = ([], Self.now() + Self.connectionMilliseconds)
            }
        }
    }

    /// What has come so far; nil when the client is gone or says too much.
    private static func read(_ descriptor: Int32, after received: [UInt8]) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0 { return errno == EAGAIN || errno == EINTR ? received : nil }
        guard count > 0, received.count + count <= LoopbackDoor.maximumHead else { return nil }
        return received + chunk[..<count]
    }

    /// A socket's buffer takes more than any answer has. The client closes when it has read it.
    private static func send(_ response: String, to descriptor: Int32) {
        let bytes = Array(response.utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
#endif
