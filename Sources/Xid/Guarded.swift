#if canImport(os)
internal import os
#else
internal import Synchronization
#endif

/// A value that is looked at and changed under a lock. iOS 16 and macOS 13 have no `Mutex` yet.
package final class Guarded<Value: Sendable>: Sendable {
    #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) {
        lock = OSAllocatedUnfairLock(initialState: value)
    }
    #else
    private let lock: Mutex<Value>

    package init(_ value: Value) {
        lock = Mutex(value)
    }
    #endif

    package func withLock<Result: Sendable>(_ work: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try work(&$0) }
    }
}
