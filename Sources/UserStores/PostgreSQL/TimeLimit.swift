#if PostgreSQL
internal import Glibc

/// The moment at which the patience of one request ends, on the clock that nobody sets.
struct TimeLimit {
    private let end: Int64

    init(_ patience: Duration) {
        let milliseconds = patience / .milliseconds(1)
        end = Self.now() + Int64(max(0, min(milliseconds, 86_400_000)))
    }

    /// Milliseconds that are left, never less than none.
    var left: Int32 {
        Int32(clamping: max(0, end - Self.now()))
    }

    /// What the server is told: a little less, so that it is the server who ends what takes too long, and says so.
    var leftForServer: String {
        String(max(1, left - left / 10))
    }

    /// The earlier of this limit and one that begins now.
    func atMost(_ duration: Duration?) -> TimeLimit {
        guard let duration else { return self }
        let other = TimeLimit(duration)
        return other.end < end ? other : self
    }

    /// Sleeps between one millisecond and `milliseconds`, at random so that those who met once do not meet again. False when
    /// there is no time left.
    func sleep(atMost milliseconds: Int32) -> Bool {
        let duration = Int32.random(in: 1...max(1, milliseconds))
        guard duration < left else { return false }
        usleep(UInt32(duration) * 1000)
        return true
    }

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
#endif
