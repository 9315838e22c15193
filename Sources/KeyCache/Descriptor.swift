internal import Glibc

/// An open file or folder, closed at the end of its life. Functions that fail leave the reason in `errno`.
struct Descriptor: ~Copyable {
    private let number: Int32

    private init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    init?(folder path: String) {
        unsafe self.init(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
    }

    deinit {
        close(number)
    }

    /// A file in this folder; a new one is for this user alone. Does not follow a link and does not wait for a pipe.
    func open(_ name: String, _ flags: Int32) -> Descriptor? {
        unsafe Descriptor(openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600))
    }

    func rename(_ name: String, to other: String) -> Bool {
        unsafe renameat(number, name, number, other) == 0
    }

    func remove(_ name: String) {
        _ = unsafe unlinkat(number, name, 0)
    }

    var status: stat? {
        var status = stat()
        return unsafe fstat(number, &status) == 0 ? status : nil
    }

    /// The status, when this is a file (or folder) that belongs to the user we run as and that nobody else may write.
    func trustedStatus(of place: KeyFileFault.Place) throws(KeyFileFault) -> stat {
        guard let status else { throw .unreadable(place, errno) }
        guard status.st_mode & S_IFMT == (place == .folder ? S_IFDIR : S_IFREG) else { throw .wrongKind(place) }
        guard status.st_uid == geteuid() else { throw .foreignOwner(place) }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writableByOthers(place) }
        return status
    }

    /// False with EWOULDBLOCK when another process holds the lock.
    func lockUnlessHeld() -> Bool {
        retrying { flock(number, LOCK_EX | LOCK_NB) } == 0
    }

    func unlock() {
        _ = flock(number, LOCK_UN)
    }

    /// What is to be read, up to `limit` bytes.
    func readAll(upTo limit: Int) -> [UInt8]? {
        var isRead = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let start = unsafe buffer.baseAddress.map { unsafe $0 + count }
                let more = retrying { unsafe read(number, start, limit - count) }
                guard more >= 0 else { return }
                if more == 0 { break }
                count += more
            }
            isRead = true
        }
        return isRead ? bytes : nil
    }

    func writeAll(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let written = retrying {
                    unsafe write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                }
                guard written >= 0 else { return false }
                unsafe rest = rest.dropFirst(written)
            }
            return true
        }
    }

    func synchronize() -> Bool {
        retrying { fsync(number) } == 0
    }

    /// A call that a signal broke off is made again.
    private func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result != -1 || errno != EINTR { return result }
        }
    }
}
