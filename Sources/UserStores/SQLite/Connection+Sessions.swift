#if SQLite
internal import Accounts
internal import JOSE

/// The table of sessions.
extension Connection {
    func insert(_ session: Session) throws(SQLiteFailure) {
        let refresh = session.refresh
        try execute(
            """
            INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at,
            previous_digest, previous_rotated_at, previous_key_id, created_at, last_used_at, ends_at, user_agent)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            """,
            [
                .blob(session.id.bytes), .blob(session.accountID.bytes), .text(session.clientID),
                .text(session.deviceInfo.json.text), .blob(refresh.salt), .blob(refresh.digest),
                .integer(refresh.expiresAt.milliseconds), .blob(refresh.previous?.digest),
                .integer(refresh.previous?.rotatedAt.milliseconds), .text(refresh.previous?.keyID),
                .integer(session.createdAt.milliseconds), .integer(session.lastUsedAt.milliseconds),
                .integer(session.endsAt.milliseconds), .text(session.userAgent),
            ])
    }

    /// Writes what can change of a session: one row, and no index, so one page.
    func update(_ session: Session) throws(SQLiteFailure) {
        let refresh = session.refresh
        try execute(
            """
            UPDATE sessions SET refresh_digest = ?2, refresh_expires_at = ?3, previous_digest = ?4,
            previous_rotated_at = ?5, previous_key_id = ?6, last_used_at = ?7 WHERE id = ?1
            """,
            [
                .blob(session.id.bytes), .blob(refresh.digest), .integer(refresh.expiresAt.milliseconds),
                .blob(refresh.previous?.digest), .integer(refresh.previous?.rotatedAt.milliseconds),
                .text(refresh.previous?.keyID), .integer(session.lastUsedAt.milliseconds),
            ])
    }

    func remove(_ session: Session) throws(SQLiteFailure) {
        try execute("DELETE FROM sessions WHERE id = ?1", [.blob(session.id.bytes)])
    }

    /// A session and its account, as they were at one moment.
    func session(_ id: UUIDv7) throws(SQLiteFailure) -> (Session, Account)? {
        var row = try prepare(
            """
            SELECT s.id, s.account_id, s.client_id, s.device_info, s.salt, s.refresh_digest, s.refresh_expires_at,
            s.previous_digest, s.previous_rotated_at, s.previous_key_id, s.created_at, s.last_used_at, s.ends_at,
            s.user_agent, a.id, a.apple_sub, a.full_name, a.email, a.email_verified, a.is_private_email, a.contact_email,
            a.created_at, a.updated_at, a.disabled_at, a.transfer_sub, a.consent_revoked_at, a.email_forwarding,
            a.email_forwarding_since
            FROM sessions AS s JOIN accounts AS a ON a.id = s.account_id WHERE s.id = ?1
            """)
        try row.bind([.blob(id.bytes)])
        return try row.step() ? (try row.session(), try row.account(from: 14)) : nil
    }

    /// The sessions of an account that end after `time`, or all of them; the youngest first.
    func sessions(of account: UUIDv7, after time: UnixTime? = nil) throws(SQLiteFailure) -> [Session] {
        var row = try prepare(
            """
            SELECT id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at, previous_digest,
            previous_rotated_at, previous_key_id, created_at, last_used_at, ends_at, user_agent FROM sessions
            WHERE account_id = ?1 AND (?2 IS NULL OR expires_at > ?2) ORDER BY created_at DESC, id DESC
            """)
        try row.bind([.blob(account.bytes), .integer(time?.milliseconds)])
        var sessions: [Session] = []
        while try row.step() { sessions.append(try row.session()) }
        return sessions
    }
}

extension Statement {
    /// The session in the first fourteen columns, in the order of the table.
    fileprivate func session() throws(SQLiteFailure) -> Session {
        // What was 4 KiB when it came may be longer as we write it: \b becomes \u0008.
        guard let id = self.id(0), let accountID = self.id(1), let clientID = try text(2), let device = try text(3),
            let deviceInfo = try? JSON(parsing: Array(device.utf8), limits: JSON.Limits(bytes: 65536)),
            let salt = blob(4), let digest = blob(5), let refreshExpiresAt = time(6), let createdAt = time(10),
            let lastUsedAt = time(11), let endsAt = time(12)
        else { throw .unusable("a row of sessions is damaged: restore the file from a backup") }
        var refresh = RefreshState(salt: salt, digest: digest, expiresAt: refreshExpiresAt)
        if let digest = blob(7), let rotatedAt = time(8), let keyID = try text(9) {
            refresh.previous = RefreshState.Previous(digest: digest, rotatedAt: rotatedAt, keyID: keyID)
        }
        return Session(
            id: id, accountID: accountID, clientID: clientID, deviceInfo: DeviceInfo(stored: deviceInfo),
            userAgent: try text(13), createdAt: createdAt, endsAt: endsAt, refresh: refresh, lastUsedAt: lastUsedAt)
    }
}
#endif
