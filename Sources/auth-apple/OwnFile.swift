internal import AuthFunction
internal import Glibc

/// A secret file of ours: created 0600, replaced whole or not at all.
struct OwnFile {
    let path: String

    struct Problem: Error {
        var reason: String
    }

    /// Creates the file; an existing one is never overwritten.
    func create(_ bytes: [UInt8]) throws(Problem) {
        try withTemporary(bytes) { temporary throws(Problem) in
            // A link fails where the name is taken, and a rename would not.
            guard unsafe link(temporary, path) == 0 else {
                throw Problem(reason: errno == EEXIST ? "exists already" : "cannot be created (\(System.errorText()))")
            }
            unsafe unlink(temporary)
        }
    }

    /// Reads, changes and replaces the file while no other process does. Where the path is a link, the file that it leads to:
    /// replacing the link would leave whoever knows that file by its own name with the old one.
    func update(_ change: ([UInt8]) throws -> [UInt8]?) throws {
        try OwnFile(path: Self.resolved(path)).updateInPlace(change)
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private func updateInPlace(_ change: ([UInt8]) throws -> [UInt8]?) throws {
        let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw Problem(reason: "cannot be locked (\(System.errorText()))")
        }
        defer { close(lock) }
        let old = try System.readFile(path, isSecret: true).mapError { Problem(reason: $0.reason) }.get()
        guard let new = try change(old) else { return }
        try withTemporary(new) { temporary throws(Problem) in
            guard unsafe rename(temporary, path) == 0 else {
                throw Problem(reason: "cannot be replaced (\(System.errorText()))")
            }
        }
    }

    private func withTemporary(_ bytes: [UInt8], _ place: (String) throws(Problem) -> Void) throws(Problem) {
        let folder = Self.folder(of: path)
        try Self.createFolder(folder)
        let temporary = "\(path).\(getpid()).new"
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Problem(reason: "cannot be written beside (\(System.errorText()))") }
        defer { unsafe unlink(temporary) }
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && Descriptor.write(bytes, to: descriptor) && fsync(descriptor) == 0
        let reason = System.errorText()
        close(descriptor)
        guard isWritten else { throw Problem(reason: "cannot be written (\(reason))") }
        try place(temporary)
        let folderDescriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        fsync(folderDescriptor)
        close(folderDescriptor)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Missing folders, closed to others.
    private static func createFolder(_ folder: String) throws(Problem) {
        var status = stat()
        guard unsafe stat(folder, &status) != 0, errno == ENOENT else { return }
        try createFolder(self.folder(of: folder))
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw Problem(reason: "is in a folder that cannot be created (\(System.errorText()))")
        }
    }
}
