import Foundation

/// A program that a test runs. It gets the three descriptors it is given, no blocked signal, and nothing else.
///
/// Foundation's `Process` lets children inherit whatever other tests have open at that moment, the very sockets among it by
/// which it learns that another child has ended; tests that run side by side then wait for each other's servers. And it
/// passes on the signal mask of its threads, which block SIGTERM.
package final class ChildProcess {
    package let pid: pid_t
    private var status: Int32?

    /// Starts `executable`. Standard input, output and error are files: neither side can block the other.
    package init(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:], input: URL? = nil,
        output: URL? = nil, errors: URL? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input?.path() ?? "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, output?.path() ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(
            &actions, 2, errors?.path() ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        // All that may be open; glibc passes over those that are not.
        for descriptor in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let words = [executable.path()] + arguments
        var pid: pid_t = 0
        let failure = withCStrings(words) { words in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }.sorted()) { environment in
                posix_spawn(&pid, executable.path(), &actions, &attributes, words, environment)
            }
        }
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        self.pid = pid
    }

    deinit {
        if status == nil {
            kill(SIGKILL)
            wait()
        }
    }

    package func kill(_ signal: Int32) {
        if status == nil { Foundation.kill(pid, signal) }
    }

    /// Waits for its end: the exit status, or 128 and the number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        while waitpid(pid, &word, 0) < 0, errno == EINTR {}
        let ending = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + (word & 0x7F)
        status = ending
        return ending
    }
}

private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
