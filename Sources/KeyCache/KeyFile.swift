internal import Glibc

/// A small file that many processes share: read whole, replaced whole, and trusted only where nobody else could have written
/// it. What is in it, it does not know.
///
/// Whoever can write this file decides who may sign in. So the folder and the file must belong to the user that we run as
/// and be writable by nobody else, no link is followed, and all of it is checked on the opened descriptor, never on a name
/// that could come to mean another file in between. A name is only asked whether the version that was read still stands there: then
/// nothing is read.
struct KeyFile {
    /// Tells one version of the file from another: every replacement is a new inode.
    struct Stamp: Hashable {
        fileprivate var device: dev_t
        fileprivate var inode: ino_t
        fileprivate var size: off_t
        fileprivate var seconds: Int
        fileprivate var nanoseconds: Int
    }

    enum Content {
        case absent
        /// Still the version that the caller knows.
        case unchanged
        case bytes([UInt8], Stamp)
    }

    private let path: String
    private let folder: String
    private let name: String
    private let maximumSize: Int
    private let beginning: [UInt8]

    /// Nil when the path does not name a file.
    ///
    /// - Parameter beginning: what every version begins with. A file that begins in another way is not replaced.
    init?(path: String, maximumSize: Int, beginning: String = "") {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else { return nil }
        let folder = path.dropLast(name.count)
        self.path = path
        self.name = name
        self.folder = folder.isEmpty ? "." : folder == "/" ? "/" : String(folder.dropLast())
        self.maximumSize = maximumSize
        self.beginning = Array(beginning.utf8)
    }

    /// The file's bytes, unless it is still the version `known`.
    func read(unless known: Stamp?) throws(KeyFileFault) -> Content {
        if let known, known == current { return .unchanged }
        guard let folder = try openedFolder() else { return .absent }
        guard let file = folder.open(name, O_RDONLY) else {
            if errno == ENOENT { return .absent }
            throw errno == ELOOP ? .symbolicLink(.file) : .unreadable(.file, errno)
        }
        let status = try file.trustedStatus(of: .file)
        guard status.st_size <= maximumSize else { throw .tooLarge }
        guard let bytes = file.readAll(upTo: Int(status.st_size)) else { throw .unreadable(.file, errno) }
        return .bytes(bytes, Stamp(status))
    }

    /// What stands at the path now; nil when that cannot be told.
    private var current: Stamp? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? Stamp(status) : nil
    }

    /// The right to replace the file, of which there is one; nil when another process has it. Creates the folder.
    ///
    /// The lock is `flock`'s, so it ends with its holder however that ends.
    func lock() throws(KeyFileFault) -> Lock? {
        try makeFolder(folder.split(separator: "/")[...])
        guard let folder = try openedFolder() else { throw .unwritable(.folder, ENOENT) }
        guard mayReplaceFile(in: folder) else { throw .anothers }
        guard let lock = folder.open(name + ".lock", O_RDWR | O_CREAT) else {
            throw errno == ELOOP ? .symbolicLink(.lock) : .unwritable(.lock, errno)
        }
        _ = try lock.trustedStatus(of: .lock)
        guard lock.lockUnlessHeld() else {
            if errno == EWOULDBLOCK { return nil }
            throw .unwritable(.lock, errno)
        }
        return Lock(folder: folder, lock: lock, name: name)
    }

    /// Whether what stands there is a version of ours, whole or damaged: it has its beginning, or lost it to a disk, which leaves
    /// zeros or nothing. Anything else is there because the path is wrong, and may be somebody's only copy.
    private func mayReplaceFile(in folder: borrowing Descriptor) -> Bool {
        guard let file = folder.open(name, O_RDONLY), let found = file.readAll(upTo: beginning.count) else {
            return true
        }
        return found.first == 0 || beginning.starts(with: found)
    }

    /// Nil when there is none.
    private func openedFolder() throws(KeyFileFault) -> Descriptor? {
        guard let descriptor = Descriptor(folder: folder) else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .symbolicLink(.folder)
            case ENOTDIR: throw .wrongKind(.folder)
            default: throw .unreadable(.folder, errno)
            }
        }
        _ = try descriptor.trustedStatus(of: .folder)
        return descriptor
    }

    /// Creates the folder, and those above it that are missing, for this user alone. Nearly always it is there already.
    private func makeFolder(_ parts: ArraySlice<Substring>) throws(KeyFileFault) {
        if make(parts) { return }
        guard errno == ENOENT, parts.count > 1 else { throw .unwritable(.folder, errno) }
        try makeFolder(parts.dropLast())
        guard make(parts) else { throw .unwritable(.folder, errno) }
    }

    private func make(_ parts: ArraySlice<Substring>) -> Bool {
        let path = (folder.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
        return unsafe mkdir(path, 0o700) == 0 || errno == EEXIST
    }
}

extension KeyFile {
    /// The right to replace the file. Given back when this value ends.
    struct Lock: ~Copyable {
        fileprivate let folder: Descriptor
        fileprivate let lock: Descriptor
        fileprivate let name: String

        deinit {
            // Closing would do, but for a child process that was forked meanwhile: it shares the lock until it closes it too.
            lock.unlock()
        }

        /// Puts `bytes` in the file's place at once: a reader, and a machine that loses power, has the old version or the
        /// new one.
        func replace(with bytes: [UInt8]) throws(KeyFileFault) -> Stamp {
            let draft = name + ".new"
            // Of a process that was killed here.
            folder.remove(draft)
            guard let file = folder.open(draft, O_WRONLY | O_CREAT | O_EXCL) else { throw .unwritable(.file, errno) }
            guard file.writeAll(bytes), file.synchronize(), let status = file.status, folder.rename(draft, to: name),
                folder.synchronize()
            else {
                let error = errno
                folder.remove(draft)
                throw .unwritable(.file, error)
            }
            return Stamp(status)
        }
    }
}

extension KeyFile.Stamp {
    fileprivate init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
