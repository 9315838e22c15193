/// A moment, as milliseconds since 1970-01-01T00:00:00Z, leap seconds ignored.
///
/// Time is a parameter everywhere in the centre: nothing here reads a clock, so that every rule about time can be shown
/// by a test. JWT's NumericDate (RFC 7519 §2) is `seconds`.
package struct UnixTime: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Saturates, so that an absurd number in a token cannot trap.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds, rounded down.
    package var seconds: Int64 {
        let quotient = milliseconds / 1000
        return milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    package func adding(seconds: Int64) -> UnixTime {
        let delta = UnixTime(seconds: seconds).milliseconds
        let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
        return UnixTime(milliseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }

    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
