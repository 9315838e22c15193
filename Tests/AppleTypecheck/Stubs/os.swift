// Of os only what the sources name. Nothing here works.

/// https://developer.apple.com/documentation/os/osallocatedunfairlock
@available(macOS 13.0, iOS 16.0, *)
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    /// https://developer.apple.com/documentation/os/osallocatedunfairlock/init(initialstate:)
    public init(initialState: State) where State: Sendable {}
    /// https://developer.apple.com/documentation/os/osallocatedunfairlock/withlock(_:)
    public func withLock<R: Sendable>(_ body: @Sendable (inout State) throws -> R) rethrows -> R { fatalError() }
}
