#if SQLite
internal import Accounts
internal import JOSE

/// The table of sessions.
extension Connection {
    func insert(_ session: Session) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO sessions (id, account_id, client_id, device_info, refresh_digest, created_at, expires_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .blob(session.id.bytes), .blob(session.accountID.bytes), .text(session.clientID),
                .text(session.deviceInfo.json.text), .blob(session.refreshDigest),
                .integer(session.createdAt.milliseconds), .integer(session.expiresAt.milliseconds),
            ])
    }

    func session(_ id: UUIDv7) throws(SQLiteFailure) -> Session? {
        var row = try prepare(
            """
            SELECT account_id, client_id, device_info, refresh_digest, created_at, expires_at
            FROM sessions WHERE id = ?1
            """)
        try row.bind([.blob(id.bytes)])
        guard try row.step() else { return nil }
        // What was 4 KiB when it came may be longer as we write it: \b becomes \u0008.
        guard let accountID = row.blob(0).flatMap({ UUIDv7(bytes: $0) }), let clientID = try row.text(1),
            let text = try row.text(2),
            let deviceInfo = try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 65536)),
            let refreshDigest = row.blob(3), let createdAt = row.integer(4), let expiresAt = row.integer(5)
        else { throw .unusable("a row of sessions is damaged: restore the file from a backup") }
        return Session(
            id: id, accountID: accountID, clientID: clientID, deviceInfo: DeviceInfo(stored: deviceInfo),
            refreshDigest: refreshDigest,
            createdAt: UnixTime(milliseconds: createdAt), expiresAt: UnixTime(milliseconds: expiresAt))
    }

    /// The ids of sessions that had expired at `time`, in order, from after `first` to before `end`.
    func expiredSessions(
        at time: UnixTime, after first: [UInt8], before end: [UInt8], limit: Int64
    ) throws(SQLiteFailure) -> [[UInt8]] {
        var row = try prepare(
            "SELECT id FROM sessions WHERE id > ?1 AND id < ?2 AND expires_at <= ?3 ORDER BY id LIMIT ?4")
        try row.bind([.blob(first), .blob(end), .integer(time.milliseconds), .integer(limit)])
        var ids: [[UInt8]] = []
        while try row.step() {
            if let id = row.blob(0) { ids.append(id) }
        }
        return ids
    }

    /// Removes those of `ids` that are still expired: the life of a session may have been prolonged in the meantime.
    func removeSessions(_ ids: [[UInt8]], expiredAt time: UnixTime) throws(SQLiteFailure) -> Int {
        var removal = try prepare("DELETE FROM sessions WHERE id = ?1 AND expires_at <= ?2")
        var count = 0
        for id in ids {
            try removal.bind([.blob(id), .integer(time.milliseconds)])
            while try removal.step() {}
            count += changes
        }
        return count
    }
}
#endif
