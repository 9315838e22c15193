import Foundation

extension Process {
    /// Runs with no signal blocked. Threads of the test runner block most of them, a child inherits that, and a server that
    /// does not see SIGTERM never ends.
    package func runUnblocked() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }

    /// Whether it ends in that time, whatever its children do. It stays to be waited for.
    package func ends(within seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        repeat {
            var information = siginfo_t()
            let result = waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOHANG | WNOWAIT)
            if result != 0 || information.si_signo == SIGCHLD { return true }
            usleep(10_000)
        } while Date() < end
        return false
    }
}
