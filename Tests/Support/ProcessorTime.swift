import Glibc

/// The processor's time that a call takes on its thread. What else the machine has to do is not in it, so that a limit which only
/// quadratic work can reach is never reached by a busy machine.
package func processorTime(_ call: () throws -> Void) rethrows -> Duration {
    let began = threadTime()
    try call()
    return threadTime() - began
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
