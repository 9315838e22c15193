internal import Glibc

/// Ctrl-C, and a request to end, as something that a waiting command looks at: the handler notes the number and does
/// nothing else. A second one ends the process at once.
enum Interrupt {
    /// Written by the handler only: one word, which no reader can see half of.
    private nonisolated(unsafe) static var number: sig_atomic_t = 0

    /// The signal that has come; nil while none has.
    static var signal: Int32? {
        let number = unsafe number
        return number == 0 ? nil : number
    }

    /// For the rest of the process.
    static func watch() {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { unsafe Interrupt.number = $0 }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        var numbers = sigset_t()
        unsafe sigemptyset(&numbers)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            unsafe sigaction(number, &action, nil)
            unsafe sigaddset(&numbers, number)
        }
        // Whoever started this process may have left them blocked, and a mask is inherited.
        unsafe sigprocmask(SIG_UNBLOCK, &numbers, nil)
    }
}
