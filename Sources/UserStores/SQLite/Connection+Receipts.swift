#if SQLite
internal import Accounts
internal import JOSE

/// The tables of receipts and of marks.
extension Connection {
    /// The receipt of this name, unless it had expired at `time`.
    func receipt(_ name: [UInt8], at time: UnixTime) throws(SQLiteFailure) -> Receipt? {
        var row = try prepare("SELECT sealed, expires_at FROM receipts WHERE name = ?1 AND expires_at > ?2")
        try row.bind([.blob(name), .integer(time.milliseconds)])
        guard try row.step() else { return nil }
        guard let sealed = row.blob(0), let expiresAt = row.time(1) else {
            throw .unusable("a row of receipts is damaged: restore the file from a backup")
        }
        return Receipt(name: name, sealed: sealed, expiresAt: expiresAt)
    }

    /// Keeps a receipt, in the place of one that has expired if need be.
    func keep(_ receipt: Receipt, of account: UUIDv7) throws(SQLiteFailure) {
        try execute(
            "INSERT OR REPLACE INTO receipts (name, account_id, sealed, expires_at) VALUES (?1, ?2, ?3, ?4)",
            [
                .blob(receipt.name), .blob(account.bytes), .blob(receipt.sealed),
                .integer(receipt.expiresAt.milliseconds),
            ])
    }

    /// Whoever repeats a request then is not given the tokens of a session that was ended.
    func removeReceipts(of account: UUIDv7) throws(SQLiteFailure) {
        try execute("DELETE FROM receipts WHERE account_id = ?1", [.blob(account.bytes)])
    }

    func isSpent(_ mark: Mark, at time: UnixTime) throws(SQLiteFailure) -> Bool {
        try integer(
            "SELECT 1 FROM marks WHERE name = ?1 AND expires_at > ?2", [.blob(mark.name), .integer(time.milliseconds)])
            != nil
    }

    /// Whether one of the same name is remembered for longer, and not beyond `end`.
    func isOutlasted(_ mark: Mark, until end: UnixTime) throws(SQLiteFailure) -> Bool {
        try integer(
            "SELECT 1 FROM marks WHERE name = ?1 AND expires_at > ?2 AND expires_at <= ?3",
            [.blob(mark.name), .integer(mark.expiresAt.milliseconds), .integer(end.milliseconds)]) != nil
    }

    /// For the longer time, where it is remembered already.
    func remember(_ mark: Mark) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO marks (name, expires_at) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)
            """,
            [.blob(mark.name), .integer(mark.expiresAt.milliseconds)])
    }
}
#endif
