internal import Glibc
internal import Synchronization

/// Work that waits for another server, on a thread of its own: that server may well ask this one for its keys before it
/// answers, and must find it listening.
final class Errand: Sendable {
    private let work: @Sendable () -> HTTPResponse
    private let bell: Bell
    private let response = Mutex<HTTPResponse?>(nil)

    /// Begins at once; `bell` rings when it is done.
    static func begin(ringing bell: Bell, _ work: @escaping @Sendable () -> HTTPResponse) throws(Failure) -> Errand {
        let errand = Errand(work: work, bell: bell)
        let argument = unsafe Unmanaged.passRetained(errand)
        var thread = pthread_t()
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let errand = unsafe Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue()
                errand.run()
                return nil
            }, argument.toOpaque())
        guard failure == 0 else {
            unsafe argument.release()
            throw Failure(reason: "cannot start a thread", exitStatus: ExitStatus.system)
        }
        pthread_detach(thread)
        return errand
    }

    private init(work: @escaping @Sendable () -> HTTPResponse, bell: Bell) {
        self.work = work
        self.bell = bell
    }

    /// Nil while the work goes on.
    var result: HTTPResponse? { response.withLock { $0 } }

    private func run() {
        let result = work()
        response.withLock { $0 = result }
        bell.ring()
    }
}

/// Wakes a server that waits for its clients: a pipe with bytes in it that mean nothing.
struct Bell: Sendable {
    /// Readable once it has rung.
    let descriptor: Int32
    private let writing: Int32

    /// For the rest of the process's life.
    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw Failure(reason: "cannot open a pipe (\(System.errorText()))", exitStatus: ExitStatus.system)
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writing) = (ends[0], ends[1])
    }

    /// A full pipe has rung already.
    func ring() {
        var byte: UInt8 = 0
        _ = unsafe write(writing, &byte, 1)
    }

    func silence() {
        while let bytes = Descriptor.read(descriptor, count: 256), !bytes.isEmpty {}
    }
}
