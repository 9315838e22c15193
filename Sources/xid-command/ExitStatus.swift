internal import Xid

/// How a command ends, for scripts. The values are part of the interface.
enum ExitStatus: Int32 {
    case success = 0
    /// What was asked for did not work; the message says why.
    case failure = 1
    /// The command was not used as its help says.
    case usage = 2
    /// The provider cannot be reached, or says that it cannot now. Nothing is lost; trying again may help.
    case unavailable = 3
    /// Nobody is signed in, or the session can no longer be renewed: `xid login` helps.
    case notSignedIn = 4
    /// Ctrl-C; other signals end with 128 and their number as well.
    case interrupted = 130

    static let help = """
        Exit status: 0 done, 1 failed, 2 wrong use, 3 the provider cannot do it now, 4 nobody is signed in,
        130 ended by Ctrl-C.
        """
}

/// The command was not used as its help says.
struct UsageError: Error {
    var reason: String
}

/// The command was understood and could not be carried out.
struct Failure: Error {
    var reason: String
    var status = ExitStatus.failure
}
