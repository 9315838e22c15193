#if canImport(os)
internal import os
#else
internal import Glibc
#endif

/// A value that is looked at and changed under a lock.
///
/// Not by `Mutex`: iOS 16 and macOS 13 have none yet. (On Linux the thread sanitizer reported two holders of one at once, probably
/// because it does not see the waiting, which lies in the standard library; of this it has nothing to report.)
@safe package final class Guarded<Value: Sendable>: Sendable {
    #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) {
        lock = OSAllocatedUnfairLock(initialState: value)
    }

    package func withLock<Result: Sendable>(_ work: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try work(&$0) }
    }
    #else
    private nonisolated(unsafe) var value: Value
    /// Allocated, because a mutex must not move.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init(_ value: Value) {
        unsafe self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result: Sendable>(_ work: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe work(&value)
    }
    #endif
}
