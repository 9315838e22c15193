#if SQLite
internal import Accounts
internal import JOSE

/// The audit, to which entries are only added.
extension Connection {
    /// Adds entries under the account's next numbers. Nobody else adds meanwhile: this is inside a transaction that writes.
    func append(_ entries: [AuditEntry]) throws(SQLiteFailure) {
        var insertion = try prepare(
            """
            INSERT INTO audit (account_id, number, time, event, session_id, reason, request_id, source_address)
            VALUES (?1, 1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        for entry in entries {
            try insertion.bind([
                .blob(entry.accountID.bytes), .integer(entry.time.milliseconds), .text(entry.event.rawValue),
                .blob(entry.sessionID?.bytes), .text(entry.reason), .text(entry.origin.requestID),
                .text(entry.origin.sourceAddress),
            ])
            while try insertion.step() {}
        }
    }

    func audit(of account: UUIDv7) throws(SQLiteFailure) -> [AuditEntry] {
        var row = try prepare(
            """
            SELECT time, event, session_id, reason, request_id, source_address FROM audit
            WHERE account_id = ?1 ORDER BY number
            """)
        try row.bind([.blob(account.bytes)])
        var entries: [AuditEntry] = []
        while try row.step() {
            guard let time = row.time(0), let event = try row.text(1).flatMap(AuditEntry.Event.init),
                let requestID = try row.text(4)
            else { throw .unusable("a row of the audit is damaged: restore the file from a backup") }
            entries.append(
                AuditEntry(
                    time: time, event: event, accountID: account, sessionID: row.id(2), reason: try row.text(3),
                    origin: AuditEntry.Origin(requestID: requestID, sourceAddress: try row.text(5))))
        }
        return entries
    }
}
#endif
