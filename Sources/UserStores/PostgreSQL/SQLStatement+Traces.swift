#if PostgreSQL
internal import Accounts
internal import JOSE

/// The tables of what a request leaves beside accounts and sessions: audit, receipts, marks, counts.
extension SQLStatement {
    /// Adds entries, all of one account, under its next numbers. Who holds the account's row is alone; who does not may be overtaken.
    static func append(_ entries: [AuditEntry]) -> [SQLStatement] {
        many(entries) { some in
            let rows = some.indices.map { "(\($0 + 1)::bigint, \(places(6, from: 2 + 6 * $0)))" }
            return SQLStatement(
                orOvertaken(
                    """
                    INSERT INTO audit (account_id, number, time, event, session_id, reason, request_id, source_address)
                    SELECT $1, last.number + n, time, event, session_id, reason, request_id, source_address FROM
                    (SELECT coalesce(max(number), 0) AS number FROM audit WHERE account_id = $1) AS last,
                    (VALUES \(rows.joined(separator: ", ")))
                    AS new (n, time, event, session_id, reason, request_id, source_address)
                    ON CONFLICT DO NOTHING
                    """, rows: some.count),
                [.uuid(some[0].accountID)]
                    + some.flatMap { entry -> [SQLParameter] in
                        [
                            .time(entry.time), .text(entry.event.rawValue), .uuid(entry.sessionID),
                            .text(entry.reason), .text(entry.origin.requestID), .text(entry.origin.sourceAddress),
                        ]
                    })
        }
    }

    static func audit(of account: UUIDv7) -> SQLStatement {
        SQLStatement(
            """
            SELECT account_id, time, event, session_id, reason, request_id, source_address FROM audit
            WHERE account_id = $1 ORDER BY number
            """, [.uuid(account)])
    }

    static func removeAddresses(of account: UUIDv7) -> SQLStatement {
        SQLStatement(
            "UPDATE audit SET source_address = NULL WHERE account_id = $1 AND source_address IS NOT NULL",
            [.uuid(account)])
    }

    static func receipt(_ name: [UInt8], at time: UnixTime) -> SQLStatement {
        SQLStatement(
            "SELECT name, sealed, expires_at FROM receipts WHERE name = $1 AND expires_at > $2",
            [.bytes(name), .time(time)])
    }

    /// Keeps a receipt in the place of one that has expired, or of any if nobody looked for one. One that another process
    /// left a moment ago is the answer to this very request.
    static func keep(_ receipt: Receipt, of account: UUIDv7, at time: UnixTime, replacing: Bool) -> SQLStatement {
        SQLStatement(
            orOvertaken(
                """
                INSERT INTO receipts (name, account_id, sealed, expires_at) VALUES ($1, $2, $3, $4)
                ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id, sealed = excluded.sealed,
                expires_at = excluded.expires_at WHERE $6 OR receipts.expires_at <= $5
                """),
            [
                .bytes(receipt.name), .uuid(account), .bytes(receipt.sealed), .time(receipt.expiresAt), .time(time),
                .bool(replacing),
            ])
    }

    /// Whoever repeats a request then is not given the tokens of a session that was ended.
    static func removeReceipts(of account: UUIDv7) -> SQLStatement {
        SQLStatement("DELETE FROM receipts WHERE account_id = $1", [.uuid(account)])
    }

    /// One row if it is remembered.
    static func look(for mark: Mark, at time: UnixTime) -> SQLStatement {
        SQLStatement(
            "SELECT expires_at FROM marks WHERE name = $1 AND expires_at > $2", [.bytes(mark.name), .time(time)])
    }

    /// One row if one of the same name is remembered for longer, and not beyond `end`.
    static func outlasting(_ mark: Mark, until end: UnixTime) -> SQLStatement {
        SQLStatement(
            "SELECT expires_at FROM marks WHERE name = $1 AND expires_at > $2 AND expires_at <= $3",
            [.bytes(mark.name), .time(mark.expiresAt), .time(end)])
    }

    /// Of two processes that remember the same mark at once, the second is overtaken.
    static func remember(_ mark: Mark, at time: UnixTime) -> SQLStatement {
        SQLStatement(
            orOvertaken(
                """
                INSERT INTO marks (name, expires_at) VALUES ($1, $2)
                ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at WHERE marks.expires_at <= $3
                """),
            [.bytes(mark.name), .time(mark.expiresAt), .time(time)])
    }

    /// Remembers a mark, or one that is there for the longer of the two times.
    static func prolong(_ mark: Mark) -> SQLStatement {
        SQLStatement(
            """
            INSERT INTO marks (name, expires_at) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET expires_at = greatest(marks.expires_at, excluded.expires_at)
            """, [.bytes(mark.name), .time(mark.expiresAt)])
    }

    static func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) -> SQLStatement {
        SQLStatement(
            """
            INSERT INTO attempts AS known (key, window_start, count) VALUES ($1, $2, 1)
            ON CONFLICT (key) DO UPDATE SET
            count = CASE WHEN known.window_start BETWEEN $2 AND $3 THEN known.count + 1 ELSE 1 END,
            window_start = CASE WHEN known.window_start BETWEEN $2 AND $3 THEN known.window_start ELSE $2 END
            RETURNING count
            """,
            [.bytes(key.bytes), .time(window), .time(AttemptWindow.latest(countedIn: window, of: seconds))])
    }
}

extension SQLRow {
    func auditEntry() throws(PostgreSQLFailure) -> AuditEntry {
        guard let account = try id("account_id"), let time = try time("time"),
            let event = try text("event").flatMap(AuditEntry.Event.init), let requestID = try text("request_id")
        else { throw .unusable("a row of the audit is damaged: restore it from a backup") }
        return AuditEntry(
            time: time, event: event, accountID: account, sessionID: try id("session_id"), reason: try text("reason"),
            origin: AuditEntry.Origin(requestID: requestID, sourceAddress: try text("source_address")))
    }

    func receipt() throws(PostgreSQLFailure) -> Receipt {
        guard let name = try bytes("name"), let sealed = try bytes("sealed"), let expiresAt = try time("expires_at")
        else { throw .unusable("a row of receipts is damaged: restore it from a backup") }
        return Receipt(name: name, sealed: sealed, expiresAt: expiresAt)
    }
}
#endif
