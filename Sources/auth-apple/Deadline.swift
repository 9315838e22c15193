internal import JOSE

/// When the runtime will stop the run that is being answered: what takes time is not begun when it could not end before.
///
/// A fetch that is cut off in the middle answers nobody, and the runtime takes the whole process with it.
final class Deadline {
    /// Nil when the runtime names none.
    var time: UnixTime?

    /// For writing the answer, once everything else is done.
    private static let marginMilliseconds: Int64 = 250

    /// What is left for outside calls, zero when nothing is; nil when there is no limit.
    func remaining(at now: UnixTime) -> Duration? {
        guard let time else { return nil }
        return .milliseconds(max(0, time.milliseconds - now.milliseconds - Self.marginMilliseconds))
    }

    /// As runtimes write it: milliseconds since 1970, in decimal. Anything else is no deadline.
    static func time(_ text: String?) -> UnixTime? {
        text.flatMap { Int64($0) }.flatMap { (0..<(1 << 52)).contains($0) ? UnixTime(milliseconds: $0) : nil }
    }
}
