internal import Glibc

/// A socket that takes connections from this machine and from no other.
final class Listener {
    let descriptor: Int32
    let port: UInt16

    init(port: UInt16) throws(Failure) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw Self.failure("open a socket") }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else {
            let failure = Self.failure("listen on 127.0.0.1:\(port)")
            close(descriptor)
            throw failure
        }
        self.port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
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

    private static func failure(_ operation: String) -> Failure {
        Failure(reason: "cannot \(operation) (\(System.errorText()))", exitStatus: ExitStatus.system)
    }
}
