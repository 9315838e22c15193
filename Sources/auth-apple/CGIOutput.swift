internal import Glibc

/// Standard output, taken out of everybody's reach: it takes the answer and nothing else. Whatever a library or a crash
/// report prints goes where it does no harm, and not in front of a header field.
struct CGIOutput {
    private let descriptor: Int32

    init() {
        descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        Descriptor.toNowhere(STDOUT_FILENO)
    }

    /// Writes the answer, whole and at once. False when the client has gone and taken the server's end with it.
    func write(_ bytes: [UInt8]) -> Bool {
        Descriptor.write(bytes, to: descriptor)
    }

    /// Lets the server see the end of the answer.
    func close() {
        Glibc.close(descriptor)
    }
}
