/// A value that comes once, from whichever side is first; later ones are dropped. One waits for it.
final class OneShot<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var continuation: CheckedContinuation<Value, Never>?
    }

    private let state = Guarded(State())

    var isSettled: Bool {
        state.withLock { $0.value != nil }
    }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state in
                    if state.value == nil { state.continuation = continuation }
                    return state.value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    func settle(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else { return nil }
            state.value = value
            return state.continuation.take()
        }
        continuation?.resume(returning: value)
    }
}
