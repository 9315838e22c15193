internal import Glibc

/// A process that does what is left to do when the answer is written, so that this one can end.
///
/// A web server considers a request done when the program has ended, or at least when every descriptor that leads to the
/// server is closed; and a program that is still there afterwards is killed by some (Apache sends SIGTERM at once). The successor has
/// none of these descriptors, and it is nobody's child: all see the program end.
enum Successor {
    static func run(_ work: () -> Void) {
        guard fork() == 0 else { return }
        // Under Apache's mod_cgid, standard input and standard output are one socket: both must go.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO] { Descriptor.toNowhere(descriptor) }
        // Whoever reads a pipe may wait for its end (mod_cgi, fcgiwrap). A log file is kept.
        if isPipe(STDERR_FILENO) { Descriptor.toNowhere(STDERR_FILENO) }
        work()
        // Not `exit`: what is to be closed is the predecessor's.
        _exit(0)
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
