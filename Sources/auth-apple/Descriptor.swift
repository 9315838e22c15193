internal import Glibc

/// What was read of a descriptor.
enum Input {
    case bytes(ArraySlice<UInt8>)
    /// More than the limit.
    case tooLong
    case unreadable
}

/// Reading and writing whole, with interrupted and partial calls taken care of.
enum Descriptor {
    /// To be called first. Of standard input, output and error those that are closed are taken up by something that can be
    /// neither read nor written: else the next file or connection that is opened would get their number, and with it our
    /// answers and our log. And a reader that goes away, or a limit on the size of files (setrlimit(2)), is an error of the
    /// write, not the end of the process.
    static func prepare() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Everything up to the end of the file. What is past the limit is read and thrown away, so that whoever writes is not
    /// left hanging.
    static func readAll(_ descriptor: Int32, limit: Int) -> Input {
        var bytes: [UInt8] = []
        var isTooLong = false
        while true {
            guard let chunk = read(descriptor, count: 65_536) else { return .unreadable }
            if chunk.isEmpty { return isTooLong ? .tooLong : .bytes(bytes[...]) }
            if bytes.count + chunk.count > limit {
                isTooLong = true
                bytes = []
            } else if !isTooLong {
                bytes += chunk
            }
        }
    }

    /// Up to so many bytes as one call gives; empty at the end of the file, nil on an error.
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

    /// Writes all of it, in one call where the system takes it so. False when the other end is gone.
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

    /// Keeps the number taken, so that no file is opened under it, and leads what is written there to nowhere.
    static func toNowhere(_ descriptor: Int32) {
        let nowhere = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(nowhere, descriptor)
        if nowhere != descriptor { close(nowhere) }
    }

    static func print(_ line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    static func printError(_ line: String) {
        write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }
}

/// Lines of standard input, each of at most so many bytes.
struct LineReader {
    let descriptor: Int32
    let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins. What lies before it goes when more is read, and not with each line.
    private var start = 0
    private var isAtEnd = false

    init(descriptor: Int32, limit: Int) {
        self.descriptor = descriptor
        self.limit = limit
    }

    /// The next line without its end; nil after the last. A line past the limit is passed over whole, and one that broke off
    /// by an error is unreadable.
    mutating func next() -> Input? {
        var scanned = start
        var isTooLong = false
        while true {
            if let end = buffer[scanned...].firstIndex(of: 0x0A) {
                let line = buffer[start..<end]
                start = end + 1
                return isTooLong || line.count > limit ? .tooLong : .bytes(line)
            }
            buffer.removeFirst(start)
            start = 0
            if buffer.count > limit {
                isTooLong = true
                buffer = []
            }
            scanned = buffer.count
            if isAtEnd {
                guard isTooLong || !buffer.isEmpty else { return nil }
                let line = buffer[...]
                buffer = []
                return isTooLong ? .tooLong : .bytes(line)
            }
            guard let chunk = Descriptor.read(descriptor, count: 65_536) else {
                isAtEnd = true
                buffer = []
                return .unreadable
            }
            isAtEnd = chunk.isEmpty
            buffer += chunk
        }
    }
}
