import JOSE
import Testing

@testable import KeyCache

@Suite struct RefreshPolicyTests {
    static let policy = RefreshPolicy()
    static let fetchedAt = UnixTime(seconds: 1_800_000_000)

    /// Keys of one hour's freshness, fetched at second zero.
    static func record(
        hasKeys: Bool = true, failedAt: Int64? = nil, succeededAt: Int64? = nil, missedAt: Int64? = nil
    ) -> KeyRecord {
        var record = KeyRecord(url: "https://example.com")
        if hasKeys {
            record.fetched = .init(
                keys: Keys.set("A"), fetchedAt: fetchedAt, freshUntil: fetchedAt.adding(seconds: 3600), entityTag: nil)
        }
        if let at = failedAt ?? succeededAt {
            record.lastAttempt = .init(endedAt: fetchedAt.adding(seconds: at), hasFailed: failedAt != nil)
        }
        record.missedAt = missedAt.map { fetchedAt.adding(seconds: $0) }
        return record
    }

    static let day: Int64 = 86_400

    @Test(
        arguments: [
            (0, .fresh), (3599, .fresh), (3600, .stale), (day, .stale), (3 * day - 1, .stale), (3 * day, .stale),
            (3 * day + 1, .unusable), (400 * day, .unusable),
            // The clock was set back: a little is believed, more is not.
            (-10, .fresh), (-11, .stale), (-400 * day, .stale),
        ] as [(Int64, RefreshPolicy.Condition)])
    func keysAreFreshThenStaleThenUnusable(second: Int64, condition: RefreshPolicy.Condition) {
        #expect(
            Self.policy.condition(of: Self.record(), at: Self.fetchedAt.adding(seconds: second)) == condition)
    }

    @Test func boundariesAreExactToTheMillisecond() {
        let record = Self.record()
        let end = Self.fetchedAt.adding(seconds: 3 * Self.day)
        #expect(Self.policy.condition(of: record, at: end) == .stale)
        #expect(Self.policy.condition(of: record, at: UnixTime(milliseconds: end.milliseconds + 1)) == .unusable)
        let stale = Self.fetchedAt.adding(seconds: 3600)
        #expect(Self.policy.condition(of: record, at: UnixTime(milliseconds: stale.milliseconds - 1)) == .fresh)
    }

    @Test func nothingIsUnusable() {
        #expect(Self.policy.condition(of: Self.record(hasKeys: false), at: Self.fetchedAt) == .unusable)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let record: KeyRecord
        let second: Int64
        let knowsKey: Bool
        let decision: RefreshPolicy.Decision

        init(
            _ description: String, _ record: KeyRecord, at second: Int64, knows: Bool,
            _ decision: RefreshPolicy.Decision
        ) {
            (testDescription, self.record, self.second) = (description, record, second)
            (knowsKey, self.decision) = (knows, decision)
        }
    }

    @Test(arguments: [
        Case("fresh, known", record(), at: 0, knows: true, .use),
        Case("stale, known", record(), at: 3 * day, knows: true, .use),
        Case("stale, known, last fetch failed", record(failedAt: 7000), at: 7001, knows: true, .use),
        Case("too old, known", record(), at: 3 * day + 1, knows: true, .fetch),
        Case("none", record(hasKeys: false), at: 0, knows: false, .fetch),
        // A key that appeared after the last fetch is found at the first try, however recent that fetch.
        Case("fresh, unknown", record(succeededAt: 0), at: 0, knows: false, .fetch),
        Case("fresh, unknown, missed now", record(missedAt: 5), at: 5, knows: false, .use),
        Case("fresh, unknown, missed 59 s ago", record(missedAt: 5), at: 64, knows: false, .use),
        Case("fresh, unknown, missed 60 s ago", record(missedAt: 5), at: 65, knows: false, .fetch),
        Case("stale, unknown, missed 59 s ago", record(missedAt: 4000), at: 4059, knows: false, .use),
        Case("stale, unknown, missed 60 s ago", record(missedAt: 4000), at: 4060, knows: false, .fetch),
        Case("missed in the future, believed", record(missedAt: 110), at: 100, knows: false, .use),
        Case("missed in the future, not believed", record(missedAt: 111), at: 100, knows: false, .fetch),
        Case("unknown, failed now", record(failedAt: 5), at: 5, knows: false, .wait(seconds: 60)),
        Case("unknown, failed 59 s ago", record(failedAt: 5), at: 64, knows: false, .wait(seconds: 1)),
        Case("unknown, failed 60 s ago", record(failedAt: 5), at: 65, knows: false, .fetch),
        Case(
            "unknown, missed, then failed", record(failedAt: 9, missedAt: 5), at: 10, knows: false, .wait(seconds: 59)),
        Case("failed in the future", record(failedAt: 111), at: 100, knows: false, .fetch),
        Case("none, failed now", record(hasKeys: false, failedAt: 5), at: 5, knows: false, .wait(seconds: 10)),
        Case("none, failed 9 s ago", record(hasKeys: false, failedAt: 5), at: 14, knows: false, .wait(seconds: 1)),
        Case("none, failed 10 s ago", record(hasKeys: false, failedAt: 5), at: 15, knows: false, .fetch),
        Case("too old, failed 9 s ago", record(failedAt: 4 * day), at: 4 * day + 9, knows: true, .wait(seconds: 1)),
        Case("too old, failed 10 s ago", record(failedAt: 4 * day), at: 4 * day + 10, knows: true, .fetch),
    ])
    func whatIsDoneForAToken(_ example: Case) {
        let now = Self.fetchedAt.adding(seconds: example.second)
        let decision = Self.policy.decision(for: example.record, knowsKey: example.knowsKey, at: now)
        #expect(decision == example.decision)
    }

    @Test func aPartOfASecondCountsAsAWholeOne() {
        let now = UnixTime(milliseconds: Self.fetchedAt.milliseconds + 1)
        let record = Self.record(failedAt: 0)
        #expect(Self.policy.decision(for: record, knowsKey: false, at: now) == .wait(seconds: 60))
        let last = UnixTime(milliseconds: Self.fetchedAt.milliseconds + 59_999)
        #expect(Self.policy.decision(for: record, knowsKey: false, at: last) == .wait(seconds: 1))
    }

    @Test(
        arguments: [
            (record(), 3599, false), (record(), 3600, true), (record(), 3 * day, true), (record(), 3 * day + 1, false),
            (record(hasKeys: false), 0, false),
            (record(failedAt: 3700), 3759, false), (record(failedAt: 3700), 3760, true),
            (record(succeededAt: 3700), 3759, false), (record(succeededAt: 3700), 3760, true),
            (record(failedAt: 5000), 3700, true), (record(), -11, true),
        ] as [(KeyRecord, Int64, Bool)])
    func onlyStaleKeysAreRenewedAndNotAtOnceAfterAFailure(record: KeyRecord, second: Int64, wanted: Bool) {
        #expect(Self.policy.wantsRenewal(of: record, at: Self.fetchedAt.adding(seconds: second)) == wanted)
    }
}
