#if SQLite
internal import Glibc

/// The database's file and the folders above it, as the system sees them.
///
/// SQLite gives the `-wal` and `-shm` files the mode of the database, whatever the umask is
/// (https://sqlite.org/src/file/src/os_unix.c, `findCreateFileMode`): to make this one file right is enough.
struct DatabaseFile {
    let path: String

    var folder: String {
        Self.folder(of: path)
    }

    var exists: Bool { Self.mode(of: path) != nil }

    /// Creates an empty file, 0600 under every umask, and the folders that are missing, 0700. Another process may have been
    /// faster, which is no failure.
    func create() throws(SQLiteFailure) {
        try createFolder(folder)
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw .unavailable("cannot create the file: \(Self.text(errno))")
        }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw .unavailable("cannot protect the file: \(Self.text(errno))") }
        try synchronizeFolder()
    }

    /// The file's name must be as durable as the first commit in it.
    private func synchronizeFolder() throws(SQLiteFailure) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable("cannot open the folder: \(Self.text(errno))") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .unavailable("cannot write the folder: \(Self.text(errno))") }
    }

    private func createFolder(_ folder: String) throws(SQLiteFailure) {
        if let mode = Self.mode(of: folder) {
            // Whoever may write here may put a log beside the file that we are about to create.
            guard mode & 0o022 == 0 else {
                throw .unavailable("others may write to \(folder): use a folder of its own, which is created 0700")
            }
            return
        }
        guard errno == ENOENT else { throw .unavailable("cannot look at \(folder): \(Self.text(errno))") }
        let parent = Self.folder(of: folder)
        if Self.mode(of: parent) == nil { try createFolder(parent) }
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .unavailable("cannot create the folder \(folder): \(Self.text(errno))")
        }
    }

    /// What an operator should know before the first sign-in: nothing is created here.
    func checkThatItCanBeCreated() throws(SQLiteFailure) {
        var nearest = folder
        while Self.mode(of: nearest) == nil, Self.folder(of: nearest) != nearest { nearest = Self.folder(of: nearest) }
        guard unsafe access(nearest, W_OK | X_OK) == 0 else {
            throw .unavailable("it does not exist, and nothing can be created in \(nearest): \(Self.text(errno))")
        }
        if nearest == folder, let mode = Self.mode(of: folder), mode & 0o022 != 0 {
            throw .unavailable("others may write to \(folder): use a folder of its own, which is created 0700")
        }
    }

    /// Refuses a file that is not ours alone: what another user could have written is not believed, and what another user
    /// could read is not written.
    func checkProtection() throws(SQLiteFailure) {
        for name in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard unsafe stat(name, &status) == 0 else { continue }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .unavailable("\(name) is no file: choose another path")
            }
            // The operator may be root while the function is another user.
            guard status.st_uid == geteuid() || geteuid() == 0 else {
                throw .unusable("\(name) belongs to another user: run this as its owner, or choose another path")
            }
            guard status.st_mode & 0o077 == 0 else { throw .unusable("others can use \(name): chmod 600 \(name)") }
            guard status.st_nlink == 1 else {
                throw .unusable("\(name) has a second name, whose log would be another: remove one of the two")
            }
        }
        if let mode = Self.mode(of: folder), mode & 0o022 != 0 {
            throw .unusable("others can write to \(folder): chmod go-w \(folder), or use a folder of its own")
        }
    }

    /// The permission bits, or nil, and `errno` says why.
    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private static func folder(of path: String) -> String {
        let trimmed = path.lastIndex { $0 != "/" }.map { path[...$0] } ?? ""
        guard let slash = trimmed.lastIndex(of: "/") else { return path.hasPrefix("/") ? "/" : "." }
        let above = trimmed[..<slash]
        return above.lastIndex { $0 != "/" }.map { String(above[...$0]) } ?? "/"
    }

    private static func text(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
#endif
