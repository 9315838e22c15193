#if os(Linux)
internal import Glibc

extension FileTokenStorage: SharedTokenStorage {
    /// By a lock on a file beside the tokens' own, which are replaced. The system gives it back when a process ends, however it ends.
    func turn(for key: String) throws -> (any Sendable)? {
        let name = ".\(try Self.fileName(for: key)).turn"
        let folder = try openedFolder(creating: true)
        defer { close(folder) }
        let file = unsafe openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure() }
        let turn = Turn(file: file)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw Self.failure()
        }
        return turn
    }

    private final class Turn: Sendable {
        private let file: Int32

        init(file: Int32) { self.file = file }

        deinit { close(file) }
    }
}
#endif
