internal import JOSE

/// How the stores tell windows of attempts apart. A row says where one begins and not how long it is; a day is the longest.
enum AttemptWindow {
    static let longestSeconds: Int64 = 86_400

    /// The latest window that an attempt in `window` is still counted in: the next one.
    ///
    /// At the turn of a window a request may come to the store after one of the next window. It is counted there: if it began its
    /// own window anew, the counts of the next would be lost. But a window of a clock that ran ahead must not last until
    /// that time comes, and shut out whom it has counted.
    static func latest(countedIn window: UnixTime, of seconds: Int64) -> UnixTime {
        window.adding(seconds: seconds)
    }

    /// Windows that began at this time or before are surely over at `time`.
    static func over(at time: UnixTime) -> UnixTime {
        time.adding(seconds: -longestSeconds)
    }
}
