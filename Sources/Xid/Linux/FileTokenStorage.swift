#if os(Linux)
@unsafe @preconcurrency internal import Glibc

/// Tokens in files that only their owner can read (0600) in a folder that only their owner can enter (0700): the storage on Linux.
///
/// A file is replaced whole (write, fsync, rename), one writer at a time over all processes, so a reader, and a machine that loses power, has the old one or the new one.
/// A file of somebody else's, open to others, or reached by a link is not believed. There is no encryption: who can read the
/// account's files can read the tokens, as with the other command lines' sessions.
public struct FileTokenStorage: TokenStorageAdapter {
    private static let maximumSize = 262_144

    private let folder: String

    /// - Parameter folder: where to keep the files; nil for `$XDG_STATE_HOME/xid`, else `~/.local/state/xid`. It is created when
    ///   missing.
    public init(folder: String? = nil) throws {
        if let folder {
            self.folder = folder
        } else if let state = Self.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            self.folder = state + "/xid"
        } else if let home = Self.variable("HOME"), home.hasPrefix("/") {
            self.folder = home + "/.local/state/xid"
        } else {
            throw XidError(
                .storageUnavailable,
                message: "There is no place for tokens. Set HOME or XDG_STATE_HOME, or name a folder.")
        }
    }

    /// Replaces the file at once.
    public func save(key: String, value: String) throws {
        let folder = try openedFolder(creating: true)
        defer { close(folder) }
        let name = try Self.fileName(for: key)
        // One name for the draft, so that one left by a process that was killed is found; one writer at a time, so that none is
        // another's.
        let turn = try Self.turn(in: folder)
        defer { close(turn) }
        let draft = Self.draft(of: name)
        unsafe unlinkat(folder, draft, 0)
        let file = unsafe openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure() }
        let isWritten = fchmod(file, 0o600) == 0 && Self.write(Array(value.utf8), to: file) && fsync(file) == 0
        let error = errno
        close(file)
        guard isWritten else {
            unsafe unlinkat(folder, draft, 0)
            throw Self.failure(error)
        }
        guard unsafe renameat(folder, draft, folder, name) == 0 else {
            let error = errno
            unsafe unlinkat(folder, draft, 0)
            throw Self.failure(error)
        }
        guard fsync(folder) == 0 else { throw Self.failure() }
    }

    /// Nil only when there is no such file.
    public func load(key: String) throws -> String? {
        let name = try Self.fileName(for: key)
        let folder: Int32
        do {
            folder = try openedFolder(creating: false)
        } catch let error as XidError where error.systemCode == Int(ENOENT) {
            return nil
        }
        defer { close(folder) }
        let file = unsafe openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure()
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw Self.failure() }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw XidError(
                .storageFailed,
                message: "The token file is not a file of this user alone. Make it so (chmod 600), or remove it.")
        }
        guard status.st_size <= Self.maximumSize else { throw XidError(.storageCorrupt) }
        return try Self.read(file, upTo: Int(status.st_size))
    }

    /// Removes the file.
    public func delete(key: String) throws {
        let name = try Self.fileName(for: key)
        let folder: Int32
        do {
            folder = try openedFolder(creating: false)
        } catch let error as XidError where error.systemCode == Int(ENOENT) {
            return
        }
        defer { close(folder) }
        let turn = try Self.turn(in: folder)
        defer { close(turn) }
        unsafe unlinkat(folder, Self.draft(of: name), 0)
        guard unsafe unlinkat(folder, name, 0) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure()
        }
        guard fsync(folder) == 0 else { throw Self.failure() }
    }
}

extension FileTokenStorage {
    /// The folder, opened, so that its name cannot come to mean another one in between. The caller closes it.
    func openedFolder(creating: Bool) throws -> Int32 {
        if creating { Self.make(folder) }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure() }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            close(descriptor)
            throw XidError(
                .storageFailed,
                message:
                    "The token folder belongs to another user or can be written by others. Make it this user's (chmod 700)."
            )
        }
        return descriptor
    }

    /// The folder and those above it that are missing. A failure shows when it is opened.
    private static func make(_ folder: String) {
        if unsafe mkdir(folder, 0o700) == 0 || errno != ENOENT { return }
        guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return }
        make(String(folder[..<slash]))
        unsafe mkdir(folder, 0o700)
    }

    /// The key itself, which can name nothing outside the folder.
    static func fileName(for key: String) throws -> String {
        let isName = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isName, !key.isEmpty, key.first != ".", key.utf8.count <= 200 else {
            throw XidError(
                .storageFailed, message: "A key of the token storage holds characters that no file name should.")
        }
        return key
    }

    private static func draft(of name: String) -> String { name + ".new" }

    /// A writer's turn; the caller closes it. A file of the user's alone, since whoever may read a file or a folder may lock it for
    /// as long as they like.
    private static func turn(in folder: Int32) throws -> Int32 {
        let file = unsafe openat(folder, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure() }
        while flock(file, LOCK_EX) != 0 {
            let error = errno
            guard error == EINTR else {
                close(file)
                throw failure(error)
            }
        }
        return file
    }

    private static func read(_ file: Int32, upTo limit: Int) throws -> String {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress.map { unsafe $0 + count }, limit - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure() }
            if more == 0 { break }
            count += more
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else { throw XidError(.storageCorrupt) }
        return text
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }

    /// What may pass by itself, or by another user's doing, is "unavailable"; the rest "failed".
    static func failure(_ error: Int32 = errno) -> XidError {
        switch error {
        case EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ESTALE, ENOENT:
            XidError(.storageUnavailable, systemCode: Int(error))
        default: XidError(.storageFailed, systemCode: Int(error))
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
#endif
