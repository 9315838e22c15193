#if os(Linux)
internal import Glibc

/// A socket that takes connections from this machine and from no other, and a way to end the waiting for them.
final class LoopbackListener: Sendable {
    let port: UInt16
    let descriptor: Int32
    /// Readable once `wake` was called.
    let alarm: Int32
    private let bell: Int32
    private let isAwake = Guarded(false)
    private let isOpen = Guarded(true)

    /// Nil when the port is taken or there are no more descriptors.
    init?(port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        var ends: [Int32] = [-1, -1]
        guard isBound, unsafe pipe(&ends) == 0 else {
            close(descriptor)
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
        alarm = ends[0]
        bell = ends[1]
    }

    deinit {
        closePort()
        close(alarm)
        close(bell)
    }

    /// Gives the port back. Only for the thread that waits at it: the descriptor's number may be another's from then on.
    func closePort() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { close(descriptor) }
    }

    /// Ends the waiting, now and from now on: nobody reads the pipe, so the first byte does for all.
    func wake() {
        let wasAwake = isAwake.withLock { isAwake in
            defer { isAwake = true }
            return isAwake
        }
        var byte: UInt8 = 1
        if !wasAwake { _ = unsafe write(bell, &byte, 1) }
    }

    /// The next connection that waits; nil when there is none.
    func accept() -> Int32? {
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { return nil }
        guard fcntl(client, F_SETFD, FD_CLOEXEC) == 0, fcntl(client, F_SETFL, O_NONBLOCK) == 0 else {
            close(client)
            return nil
        }
        return client
    }
}
#endif
