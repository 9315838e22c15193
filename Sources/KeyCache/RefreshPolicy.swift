internal import JOSE

/// When remembered keys are used, when they are fetched again, and when neither may be. Pure: what is remembered and the
/// time go in, a decision comes out; several processes that decide by one file decide alike.
struct RefreshPolicy {
    /// The age up to which keys are used when no newer ones can be had.
    var maximumAgeSeconds: Int64 = 72 * 3600
    /// A token's `kid` is not verified, and anybody can make one up. A fetch that does not bring the key that was named is
    /// not repeated for this long, for whatever name; nor is a failed one while there are keys to go on with.
    var cooldownSeconds: Int64 = 60
    /// The pause after a failed fetch when there are no keys to go on with, so that an outage of Apple's does not make
    /// every request wait for the fetch's own time limit.
    var backoffSeconds: Int64 = 10
    /// How far a time may lie in the future and still be believed.
    var clockToleranceSeconds: Int64 = 10

    enum Condition: Hashable {
        case fresh
        /// To be used, and to be renewed when nobody waits.
        case stale
        /// None, or too old to be used.
        case unusable
    }

    enum Decision: Hashable {
        /// Use the remembered keys, although the named one may not be among them.
        case use
        case fetch
        /// The last fetch failed, and the next one may be tried in so many seconds.
        case wait(seconds: Int64)
    }

    func condition(of record: KeyRecord, at now: UnixTime) -> Condition {
        guard let fetched = record.fetched else { return .unusable }
        // Keys that were fetched in the future have an age that nobody knows; they are worth a fetch, but are not lost.
        guard isBelievable(fetched.fetchedAt, at: now) else { return .stale }
        if now < fetched.freshUntil { return .fresh }
        return now <= fetched.fetchedAt.adding(seconds: maximumAgeSeconds) ? .stale : .unusable
    }

    /// What to do for a token that names a key, which `record` has or has not.
    func decision(for record: KeyRecord, knowsKey: Bool, at now: UnixTime) -> Decision {
        let failure = record.lastAttempt.flatMap { $0.hasFailed ? $0.endedAt : nil }
        switch (condition(of: record, at: now), knowsKey) {
        case (.fresh, true), (.stale, true):
            return .use
        case (.fresh, false), (.stale, false):
            // Whether Apple knows the key could not be found out: an outage, not the token's fault.
            if let pause = pause(after: failure, of: cooldownSeconds, at: now) { return .wait(seconds: pause) }
            if pause(after: record.missedAt, of: cooldownSeconds, at: now) != nil { return .use }
            return .fetch
        case (.unusable, _):
            if let pause = pause(after: failure, of: backoffSeconds, at: now) { return .wait(seconds: pause) }
            return .fetch
        }
    }

    /// Whether keys that are in use should be renewed now that nobody waits.
    func wantsRenewal(of record: KeyRecord, at now: UnixTime) -> Bool {
        condition(of: record, at: now) == .stale
            && pause(after: record.lastAttempt?.endedAt, of: cooldownSeconds, at: now) == nil
    }

    /// A time that lies in the future was written before the clock was set back, and says nothing.
    func isBelievable(_ time: UnixTime, at now: UnixTime) -> Bool {
        time <= now.adding(seconds: clockToleranceSeconds)
    }

    /// The rest of a pause, in whole seconds and at least one; nil when it is over or never began.
    private func pause(after start: UnixTime?, of seconds: Int64, at now: UnixTime) -> Int64? {
        guard let start, isBelievable(start, at: now) else { return nil }
        let rest = start.adding(seconds: seconds).milliseconds - now.milliseconds
        return rest > 0 ? (rest + 999) / 1000 : nil
    }
}
