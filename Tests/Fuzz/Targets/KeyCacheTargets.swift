import JOSE

@testable import KeyCache

extension FuzzTarget {
    /// A cache file. One that is believed is one that we wrote, and no decision by it is one that the policy forbids.
    static let keyRecord = FuzzTarget("key-record", maximumSize: 8192) { input in
        guard let record = KeyRecord(parsing: input) else { return .interesting }
        try demand(record.serialized() == input, "a record that is read is written as it was")
        try check(record)
        return .interesting
    }

    /// What a server says: status, Cache-Control, Age and ETag, a line each, and the body. What is taken in can be written and
    /// read again, and is never fresh for longer than a day.
    static let keyResponse = FuzzTarget("key-response", maximumSize: 8192) { input in
        let lines = input.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false)
        guard lines.count == 5, let status = Int(String(decoding: lines[0], as: UTF8.self)) else { return .foreign }
        let field = { (index: Int) -> String? in
            lines[index].isEmpty ? nil : String(decoding: lines[index], as: UTF8.self)
        }
        let response = KeyResponse(
            status: status, cacheControl: field(1), age: field(2), entityTag: field(3), body: Array(lines[4]))
        for start in [KeyRecord(url: "https://appleid.apple.com/auth/keys"), known] {
            var record = start
            do {
                try record.accept(response, at: FuzzSite.now)
                try demand(status == 200 || (status == 304 && start.fetched != nil), "only 200 and 304 bring keys")
                try demand(record.fetched?.keys.contains(.rs256) ?? false, "keys give way only to usable ones")
            } catch is KeyFetchFailure {
                try demand(record == start, "a refused answer changes nothing")
                record.recordFailure(at: FuzzSite.now)
            }
            let written = record.serialized()
            try demand(written.count <= KeyRecord.maximumSize, "a record fits its file")
            try demand(KeyRecord(parsing: written) == record, "a record is read as it was written")
            try check(record)
        }
        return .interesting
    }

    private static let known: KeyRecord = {
        var record = KeyRecord(url: "https://appleid.apple.com/auth/keys")
        record.fetched = KeyRecord.Fetched(
            keys: FuzzSite.appleKeys, fetchedAt: FuzzSite.now.adding(seconds: -7200),
            freshUntil: FuzzSite.now.adding(seconds: -3600), entityTag: EntityTag("\"a\""))
        return record
    }()

    private static func check(_ record: KeyRecord) throws {
        let policy = RefreshPolicy()
        for now in [FuzzSite.now, UnixTime(seconds: 0), FuzzSite.now.adding(seconds: 100 * 86_400)] {
            let condition = policy.condition(of: record, at: now)
            guard let fetched = record.fetched else {
                try demand(condition == .unusable, "no keys are not used")
                continue
            }
            let age = now.milliseconds - fetched.fetchedAt.milliseconds
            try demand(
                fetched.freshUntil.milliseconds - fetched.fetchedAt.milliseconds <= 86_400_000, "fresh for a day")
            if age > 72 * 3_600_000 { try demand(condition == .unusable, "72 hours are the end") }
            for knows in [true, false] {
                let decision = policy.decision(for: record, knowsKey: knows, at: now)
                if condition == .unusable { try demand(decision != .use, "unusable keys are not used") }
            }
        }
    }
}
