#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    package func migrate() throws(StoreError) -> SchemaChange {
        try withConnection { _, limit throws(PostgreSQLFailure) in
            let change = try migrate(until: limit)
            return SchemaChange(from: change.from, to: change.to)
        }
    }

    package func purge(before time: UnixTime, auditDays: Int64) throws(StoreError) -> PurgeCount {
        let begun = AttemptWindow.over(at: time)
        let kept = time.adding(seconds: -auditDays * 86_400)
        return PurgeCount(
            sessions: try purge(.sessions, before: time),
            receipts: try purge(.receipts, before: time),
            marks: try purge(.marks, before: time),
            attempts: try purge(.attempts, before: begun),
            auditEntries: try purge(.audit, before: kept))
    }

    /// Goes through the keys, each time those after the last one, and removes as many as `batch` in a transaction each.
    private func purge(_ table: Expired, before time: UnixTime) throws(StoreError) -> Int {
        var count = 0
        var last: [UInt8] = []
        while true {
            let rows = try perform { _ throws(PostgreSQLFailure) in [table.removal(before: time, after: last)] }[0]
            let end = try read { () throws(PostgreSQLFailure) in
                try rows.all.map { row throws(PostgreSQLFailure) in try table.key(of: row) }.max {
                    $0.lexicographicallyPrecedes($1)
                }
            }
            guard let end else { return count }
            count += rows.count
            last = end
        }
    }

    package func accounts(after last: UUIDv7?, limit: Int) throws(StoreError) -> [Account] {
        let first = UUIDv7(bytes: Array(repeating: 0, count: 16))
        let rows = try perform { queries throws(PostgreSQLFailure) in
            [queries.statement(.list, [.uuid(last ?? first), .integer(Int64(limit))])].compactMap { $0 }
        }
        return try read { () throws(PostgreSQLFailure) in
            try rows[0].all.map { row throws(PostgreSQLFailure) in try row.account() }
        }
    }
}

/// What expires, by table.
private enum Expired {
    case sessions, receipts, marks, attempts, audit

    private static let batch: Int64 = 500

    /// Removes a batch of what had expired at `time`, and gives the keys of what it removed. The condition is there twice: in
    /// the meantime a row may have become another.
    func removal(before time: UnixTime, after last: [UInt8]) -> SQLStatement {
        let end = UUIDv7(at: time, random: Array(repeating: 0, count: 10))
        let id = UUIDv7(bytes: last) ?? UUIDv7(bytes: Array(repeating: 0, count: 16))
        switch self {
        case .sessions:
            // An id says when it was made, so the search ends where all sessions are younger than `time`.
            return SQLStatement(
                """
                DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id > $1 AND id < $2
                AND least(ends_at, refresh_expires_at) <= $3 ORDER BY id LIMIT $4)
                AND least(ends_at, refresh_expires_at) <= $3 RETURNING id
                """, [.uuid(id), .uuid(end), .time(time), .integer(Self.batch)])
        case .receipts, .marks:
            let table = self == .receipts ? "receipts" : "marks"
            return SQLStatement(
                """
                DELETE FROM \(table) WHERE name IN (SELECT name FROM \(table) WHERE name > $1
                AND expires_at <= $2 ORDER BY name LIMIT $3) AND expires_at <= $2 RETURNING name
                """, [.bytes(last), .time(time), .integer(Self.batch)])
        case .attempts:
            return SQLStatement(
                """
                DELETE FROM attempts WHERE key IN (SELECT key FROM attempts WHERE key > $1
                AND window_start <= $2 ORDER BY key LIMIT $3) AND window_start <= $2 RETURNING key
                """, [.bytes(last), .time(time), .integer(Self.batch)])
        case .audit:
            // Of the deleted accounts too.
            return SQLStatement(
                """
                DELETE FROM audit WHERE account_id IN (SELECT DISTINCT account_id FROM audit WHERE account_id > $1
                AND time < $2 ORDER BY account_id LIMIT $3) AND time < $2 RETURNING account_id
                """, [.uuid(id), .time(time), .integer(Self.batch)])
        }
    }

    func key(of row: SQLRow) throws(PostgreSQLFailure) -> [UInt8] {
        switch self {
        case .sessions: try row.id("id")?.bytes ?? []
        case .receipts, .marks: try row.bytes("name") ?? []
        case .attempts: try row.bytes("key") ?? []
        case .audit: try row.id("account_id")?.bytes ?? []
        }
    }
}
#endif
