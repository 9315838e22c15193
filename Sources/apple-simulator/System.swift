internal import Glibc
internal import JOSE

/// What the simulator asks of the operating system.
enum System {
    static func now() -> UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// For deadlines: a clock that nobody sets.
    static func monotonicMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Nil when the variable is not set or empty.
    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    static func errorText() -> String {
        unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}

/// Reading and writing whole, with interrupted and partial calls taken care of.
enum Descriptor {
    /// Up to so many bytes as one call gives; empty at the end of the file, nil on an error (`errno` says which).
    static func read(_ descriptor: Int32, count: Int) -> [UInt8]? {
        var failed = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var result: Int
            repeat {
                result = unsafe Glibc.read(descriptor, buffer.baseAddress, count)
            } while result < 0 && errno == EINTR
            failed = result < 0
            initialized = max(0, result)
        }
        return failed ? nil : bytes
    }

    /// Everything up to the end of the file; nil past the limit or on an error.
    static func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let chunk = read(descriptor, count: 65_536), bytes.count + chunk.count <= limit {
            if chunk.isEmpty { return bytes }
            bytes += chunk
        }
        return nil
    }

    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    static func print(_ line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    static func printError(_ line: String) {
        write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }
}
