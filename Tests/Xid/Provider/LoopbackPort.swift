import Foundation

/// A port of this machine for a server that wants one named.
enum LoopbackPort {
    /// One that nobody has, from below those that the system chooses: another test's connection will not be given it meanwhile.
    static func free() -> Int {
        while true {
            let port = Int.random(in: 20_000..<32_000)
            if canBind(port) { return port }
        }
    }

    private static func canBind(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
