internal import Glibc
internal import JOSE

/// The file that the simulator's private keys live in: its own, closed to others, made at the first use.
struct KeyFile {
    static let maximumSize = 65_536
    static let options: [Options.Option] = [.value("key-file")]

    let path: String
    let cryptography: any Cryptography

    init(_ options: Options, cryptography: any Cryptography) throws {
        self.cryptography = cryptography
        if let path = options.value("key-file") ?? System.environment("APPLE_SIMULATOR_KEYS") {
            self.path = path
        } else if let state = System.environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            path = "\(state)/apple-simulator/keys.json"
        } else if let home = System.environment("HOME") {
            path = "\(home)/.local/state/apple-simulator/keys.json"
        } else {
            throw UsageError(reason: "there is no HOME: name a file by --key-file or APPLE_SIMULATOR_KEYS")
        }
    }

    /// The keys; the first to ask makes them. Of several at once one makes them and all have the same.
    func keys() throws -> SimulatedKeys {
        if let keys = try read() { return keys }
        let new = try SimulatedKeys.make(using: cryptography)
        // A link fails where the name is taken, and a rename would not.
        let isFirst = try withTemporary(new) { unsafe link($0, path) == 0 }
        if isFirst { return new }
        guard let others = try read() else { throw cannotCreate() }
        return others
    }

    func rotate() throws {
        var keys = try keys()
        try keys.rotate(using: cryptography)
        guard try withTemporary(keys, { unsafe rename($0, path) == 0 }) else { throw cannotCreate() }
    }

    /// Nil when there is no file. One that others may read or change is refused, not repaired: its keys may be known.
    private func read() throws -> SimulatedKeys? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw problem("cannot be opened (\(System.errorText()))") }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw problem("is not a regular file")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw problem("is open to others; remove it, and new keys are made")
        }
        guard let bytes = Descriptor.readAll(descriptor, limit: Self.maximumSize),
            let keys = SimulatedKeys(parsing: bytes, using: cryptography)
        else { throw problem("holds no keys of the simulator; remove it, and new keys are made") }
        return keys
    }

    /// Writes the keys beside the file, closed to others from the start, and lets `place` put them there.
    private func withTemporary(_ keys: SimulatedKeys, _ place: (String) -> Bool) throws -> Bool {
        Self.createFolder(of: path)
        let suffix = Base64URL.encode(try cryptography.randomBytes(9))
        let temporary = "\(path).\(suffix)"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw cannotCreate() }
        defer { unsafe unlink(temporary) }
        let isWritten =
            Descriptor.write(keys.secretJSON.serialized() + [0x0A], to: descriptor) && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw cannotCreate() }
        return place(temporary)
    }

    private static func createFolder(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard unsafe access(folder, F_OK) != 0 else { return }
        createFolder(of: folder)
        unsafe mkdir(folder, 0o700)
    }

    private func problem(_ reason: String) -> Failure {
        Failure(reason: "the key file \(path) \(reason)", exitStatus: ExitStatus.cannotCreate)
    }

    private func cannotCreate() -> Failure {
        problem("cannot be made (\(System.errorText()))")
    }
}
