#if SQLite
internal import Accounts
internal import JOSE

/// What has expired, a few hundred rows at a time: found by a search that locks nobody out, and removed by key.
extension Connection {
    static let batch: Int64 = 500

    /// The ids of sessions that had expired at `time`, in order, from after `last`. An id says when it was made, so the search
    /// ends where all sessions are younger than `time`.
    func expiredSessions(at time: UnixTime, after last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]] {
        let end = UUIDv7(at: time, random: Array(repeating: 0, count: 10)).bytes
        return try keys(
            "SELECT id FROM sessions WHERE id > ?1 AND id < ?2 AND expires_at <= ?3 ORDER BY id LIMIT ?4",
            [.blob(last), .blob(end), .integer(time.milliseconds), .integer(Self.batch)])
    }

    /// Removes those of `ids` that are still expired: the life of a session may have been prolonged in the meantime.
    func removeSessions(_ ids: [[UInt8]], expiredAt time: UnixTime) throws(SQLiteFailure) -> Int {
        try remove("DELETE FROM sessions WHERE id = ?1 AND expires_at <= ?2", ids, time)
    }

    func expiredReceipts(at time: UnixTime, after last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]] {
        try keys(
            "SELECT name FROM receipts WHERE name > ?1 AND expires_at <= ?2 ORDER BY name LIMIT ?3",
            [.blob(last), .integer(time.milliseconds), .integer(Self.batch)])
    }

    func removeReceipts(_ names: [[UInt8]], expiredAt time: UnixTime) throws(SQLiteFailure) -> Int {
        try remove("DELETE FROM receipts WHERE name = ?1 AND expires_at <= ?2", names, time)
    }

    func expiredMarks(at time: UnixTime, after last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]] {
        try keys(
            "SELECT name FROM marks WHERE name > ?1 AND expires_at <= ?2 ORDER BY name LIMIT ?3",
            [.blob(last), .integer(time.milliseconds), .integer(Self.batch)])
    }

    func removeMarks(_ names: [[UInt8]], expiredAt time: UnixTime) throws(SQLiteFailure) -> Int {
        try remove("DELETE FROM marks WHERE name = ?1 AND expires_at <= ?2", names, time)
    }

    func attempts(begunBy time: UnixTime, after last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]] {
        try keys(
            "SELECT key FROM attempts WHERE key > ?1 AND window_start <= ?2 ORDER BY key LIMIT ?3",
            [.blob(last), .integer(time.milliseconds), .integer(Self.batch)])
    }

    func removeAttempts(_ keys: [[UInt8]], begunBy time: UnixTime) throws(SQLiteFailure) -> Int {
        try remove("DELETE FROM attempts WHERE key = ?1 AND window_start <= ?2", keys, time)
    }

    /// The accounts that have audit entries from before `time`; of the deleted ones too.
    func accountsWithAudit(before time: UnixTime, after last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]] {
        try keys(
            """
            SELECT DISTINCT account_id FROM audit WHERE account_id > ?1 AND time < ?2 ORDER BY account_id LIMIT ?3
            """, [.blob(last), .integer(time.milliseconds), .integer(Self.batch)])
    }

    func removeAudit(of accounts: [[UInt8]], before time: UnixTime) throws(SQLiteFailure) -> Int {
        try remove("DELETE FROM audit WHERE account_id = ?1 AND time < ?2", accounts, time)
    }

    private func keys(_ query: StaticString, _ values: [SQLValue]) throws(SQLiteFailure) -> [[UInt8]] {
        var row = try prepare(query)
        try row.bind(values)
        var keys: [[UInt8]] = []
        while try row.step() {
            if let key = row.blob(0) { keys.append(key) }
        }
        return keys
    }

    private func remove(
        _ deletion: StaticString, _ keys: [[UInt8]], _ time: UnixTime
    ) throws(SQLiteFailure) -> Int {
        var deletion = try prepare(deletion)
        var count = 0
        for key in keys {
            try deletion.bind([.blob(key), .integer(time.milliseconds)])
            while try deletion.step() {}
            count += changes
        }
        return count
    }
}
#endif
