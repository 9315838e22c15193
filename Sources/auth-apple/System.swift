internal import AuthFunction
@unsafe @preconcurrency internal import Glibc
internal import JOSE

/// What the program asks of the operating system: the clock, the environment, and files of its own.
enum System {
    static let clock = Clock(now: now, monotonicMilliseconds: monotonicMilliseconds)

    static var userID: UInt32 { geteuid() }

    /// A crash writes no memory to a file: keys and tokens are in it (core(5)).
    static func forbidCoreFiles() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    static func now() -> UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    private static func monotonicMilliseconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    /// One variable that is not configuration, such as a runtime's mark; nil when it is unset or empty.
    static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }

    /// The environment as configuration.
    static func environment(_ entries: [[UInt8]] = environmentEntries()) -> Environment {
        Environment(entries: entries, readFile: readFile)
    }

    /// The environment as the system holds it, in its order and with every repetition.
    static func environmentEntries() -> [[UInt8]] {
        var entries: [[UInt8]] = []
        var pointer = unsafe environ
        while let entry = unsafe pointer.pointee {
            unsafe entries.append(Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
            unsafe pointer += 1
        }
        return entries
    }

    /// A configuration file, 64 KiB at most. A secret one must belong to this user or to root and be closed to others.
    static func readFile(_ path: String, isSecret: Bool) -> Result<[UInt8], Environment.FileProblem> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(.init(reason: "cannot be opened (\(errorText()))")) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .failure(.init(reason: "is not a regular file"))
        }
        if isSecret {
            guard status.st_uid == geteuid() || status.st_uid == 0 else {
                return .failure(.init(reason: "belongs to another user"))
            }
            guard status.st_mode & 0o077 == 0 else {
                return .failure(.init(reason: "others may read or write (its mode is not 0600)"))
            }
        }
        switch Descriptor.readAll(descriptor, limit: 65_536) {
        case .bytes(let bytes): return .success(Array(bytes))
        case .tooLong: return .failure(.init(reason: "is larger than 64 KiB"))
        case .unreadable: return .failure(.init(reason: "cannot be read (\(errorText()))"))
        }
    }

    static func errorText() -> String {
        unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}
