#if os(Linux)
internal import Glibc

/// A thread for work that blocks, so that Swift's pool, which has one thread a core, is never blocked.
enum DetachedThread {
    /// False when the system gives no more threads; the work is not done then.
    static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        let box = unsafe Unmanaged.passRetained(Work(work))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let code = unsafe pthread_create(
            &thread, &attributes,
            { context in
                if let context = unsafe context { unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if code != 0 { unsafe box.release() }
        return code == 0
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
#endif
