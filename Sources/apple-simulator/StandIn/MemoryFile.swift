internal import Glibc
internal import JOSE

/// Where the memory is kept: in the process, or in a file that restarts and several runs share.
///
/// With a file every use reads it anew under a lock, and replaces it whole (write, fsync, rename) when something changed.
/// It is closed to others, since it says whom a developer has invented.
final class MemoryFile {
    private static let maximumSize = 8_388_608

    private let path: String?
    private let cryptography: any Cryptography
    private var memory = Memory()

    init(path: String?, cryptography: any Cryptography) {
        self.path = path
        self.cryptography = cryptography
    }

    /// Nothing is changed when `body` throws.
    func use<Result>(_ body: (inout Memory) throws -> Result) throws -> Result {
        guard let path else {
            var changed = memory
            let result = try body(&changed)
            memory = changed
            return result
        }
        let lock = try lock(path)
        defer { close(lock) }
        let before = try read(path)
        var changed = before ?? Memory()
        let result = try body(&changed)
        if changed != before { try replace(path, by: changed) }
        return result
    }

    private func lock(_ path: String) throws(Failure) -> Int32 {
        let descriptor = unsafe open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw problem("cannot be locked (\(System.errorText()))") }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let failure = problem("cannot be locked (\(System.errorText()))")
                close(descriptor)
                throw failure
            }
        }
        return descriptor
    }

    /// Nil when there is no file. One that others may read or change is refused, not repaired.
    private func read(_ path: String) throws(Failure) -> Memory? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw problem("cannot be opened (\(System.errorText()))") }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem("is not a regular file")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw problem("is open to others; remove it, or close it to them (chmod 600)")
        }
        let limits = JSON.Limits(bytes: Self.maximumSize, depth: 4)
        guard let bytes = Descriptor.readAll(descriptor, limit: Self.maximumSize),
            let memory = (try? JSON(parsing: bytes, limits: limits)).flatMap(Memory.init)
        else { throw problem("holds no state of the simulator; remove it to begin anew") }
        return memory
    }

    private func replace(_ path: String, by memory: Memory) throws {
        let temporary = "\(path).\(Base64URL.encode(try cryptography.randomBytes(9)))"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw problem("cannot be written (\(System.errorText()))") }
        let isWritten =
            Descriptor.write(memory.json.serialized() + [0x0A], to: descriptor) && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten, unsafe rename(temporary, path) == 0 else {
            let failure = problem("cannot be written (\(System.errorText()))")
            unsafe unlink(temporary)
            throw failure
        }
    }

    private func problem(_ reason: String) -> Failure {
        Failure(reason: "the state file \(path ?? "") \(reason)", exitStatus: ExitStatus.cannotCreate)
    }
}
