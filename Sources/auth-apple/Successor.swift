internal import Glibc

/// A process that does what is left to do when the answer is written, so that this one can end.
///
/// A web server considers a request done when every descriptor that leads to it is closed, and some wait for the program's
/// end as well. A program that is still there afterwards is killed (Apache and lighttpd send SIGTERM). The successor has none of
/// these descriptors, and is not the process that the server knows.
enum Successor {
    static func run(closing output: CGIOutput, _ work: () -> Void) {
        guard fork() == 0 else { return }
        output.close()
        // Under Apache's mod_cgid standard input and standard output are one socket: both must go.
        Descriptor.toNowhere(STDIN_FILENO)
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
