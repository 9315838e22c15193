internal import AuthFunction
internal import Glibc

/// Where an export goes: standard output, or a new file that has its name only when it is whole. Closed to others from its first
/// byte.
final class ExportFile {
    private let path: String?
    private let temporary: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// - Parameter place: a path, or `-`.
    init(_ place: String) throws(OwnFile.Problem) {
        if place == "-" {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw .init(reason: "is a terminal: lead it into a file or a pipe")
            }
            path = nil
            temporary = ""
            descriptor = STDOUT_FILENO
            return
        }
        var status = stat()
        // Said before the work and not after it; what counts is the link at the end.
        guard unsafe lstat(place, &status) != 0 else { throw .init(reason: "exists already") }
        let temporary = "\(place).\(getpid()).new"
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .init(reason: "cannot be written beside (\(System.errorText()))") }
        fchmod(descriptor, 0o600)
        path = place
        self.temporary = temporary
        self.descriptor = descriptor
    }

    deinit {
        guard path != nil else { return }
        close(descriptor)
        unsafe unlink(temporary)
    }

    /// False when it cannot be written.
    func append(_ bytes: [UInt8]) -> Bool {
        buffer += bytes
        return buffer.count < 65_536 || flush()
    }

    /// Gives the file its name.
    func finish() throws(OwnFile.Problem) {
        guard flush() else { throw .init(reason: "cannot be written (\(System.errorText()))") }
        guard let path else { return }
        guard fsync(descriptor) == 0 else { throw .init(reason: "cannot be written (\(System.errorText()))") }
        // A link fails where the name is taken, and a rename would not.
        guard unsafe link(temporary, path) == 0 else {
            throw .init(reason: errno == EEXIST ? "exists already" : "cannot be created (\(System.errorText()))")
        }
    }

    private func flush() -> Bool {
        defer { buffer.removeAll(keepingCapacity: true) }
        return Descriptor.write(buffer, to: descriptor)
    }
}
