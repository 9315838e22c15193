internal import Glibc
internal import Synchronization

/// Ctrl-C, and a request to end, as something that a waiting command looks at: the handler notes the number and does
/// nothing else. A second one ends the process at once.
enum Interrupt {
    /// Written by the handler, which may run beside any thread that looks.
    private static let number = Atomic<Int32>(0)

    /// The signal that has come; nil while none has.
    static var signal: Int32? {
        let number = number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// For the rest of the process.
    static func watch() {
        // Made here: what is made at its first use must not be made in a handler.
        number.store(0, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { Interrupt.number.store($0, ordering: .relaxed) }
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
