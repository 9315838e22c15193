internal import Glibc

/// SIGTERM and SIGINT as something to wait for beside the clients: the handler writes into a pipe and does nothing else.
struct StopSignal {
    /// Readable once the signal has come.
    let descriptor: Int32

    nonisolated(unsafe) private static var pipe: (reading: Int32, writing: Int32) = (-1, -1)

    /// For the whole process and the rest of its life.
    static func install() throws(Failure) -> StopSignal {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else {
            throw Failure(reason: "cannot open a pipe (\(System.errorText()))", exitStatus: ExitStatus.system)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        unsafe pipe = (ends[0], ends[1])
        // A client that is gone is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in
            let before = errno
            var byte: UInt8 = 0
            unsafe write(StopSignal.pipe.writing, &byte, 1)
            errno = before
        }
        var numbers = sigset_t()
        unsafe sigemptyset(&numbers)
        for number in [SIGTERM, SIGINT] {
            unsafe sigaction(number, &action, nil)
            unsafe sigaddset(&numbers, number)
        }
        // Whoever started this process may have left them blocked, and a mask is inherited.
        unsafe sigprocmask(SIG_UNBLOCK, &numbers, nil)
        return StopSignal(descriptor: ends[0])
    }
}
