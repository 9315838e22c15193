internal import Glibc

/// How long one request of ours may go on trying, and how it waits between: longer each time, and by chance ("full jitter"), so
/// that those who met once do not meet again.
///
/// https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
struct RetrySchedule {
    private let patience: Int64
    private let isRenewed: Bool
    private var end: Int64
    private var attempts = 0

    private static let first: Int64 = 20
    private static let longest: Int64 = 1000
    /// What an attempt must have: one that is cut short says nothing of what is wrong.
    private static let shortestAttempt: Int64 = 250

    /// - Parameter isRenewed: whether the patience begins anew with each answer: of work that has any number of requests, and that
    ///   nobody's request waits for.
    init(lasting patience: Duration, renewed isRenewed: Bool = false) {
        self.patience = max(1, patience / .milliseconds(1)).saturated
        self.isRenewed = isRenewed
        end = Self.now() + self.patience
    }

    /// There was an answer.
    mutating func progress() {
        if isRenewed { end = Self.now() + patience }
    }

    /// How long one attempt may last: there must be time for another.
    var longestAttempt: Int64 { min(patience * 3 / 5, remaining + 1) }

    /// What is left, in milliseconds.
    var remaining: Int64 { max(0, end - Self.now()) }

    /// Waits and says yes; says no when there is no time for another attempt.
    mutating func wait() -> Bool {
        let limit = min(Self.longest, Self.first << Int64(min(attempts, 10)))
        attempts += 1
        let pause = Int64.random(in: 0...limit)
        guard remaining > pause + Self.shortestAttempt else { return false }
        usleep(UInt32(pause) * 1000)
        return true
    }

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension Double {
    fileprivate var saturated: Int64 { Int64(min(self, 1e12)) }
}
