#if SQLite
internal import Accounts
internal import JOSE

/// The tables of Apple's grants and of those to be revoked.
extension Connection {
    func keep(_ grant: AppleGrant) throws(SQLiteFailure) {
        try execute(
            """
            INSERT OR REPLACE INTO apple_grants (account_id, client_id, key_id, sealed, obtained_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, grant.values)
    }

    func grants(of account: UUIDv7) throws(SQLiteFailure) -> [AppleGrant] {
        var row = try prepare(
            """
            SELECT account_id, client_id, key_id, sealed, obtained_at FROM apple_grants WHERE account_id = ?1
            ORDER BY client_id
            """)
        try row.bind([.blob(account.bytes)])
        var grants: [AppleGrant] = []
        while try row.step() { grants.append(try row.grant()) }
        return grants
    }

    func removeGrants(of account: UUIDv7) throws(SQLiteFailure) {
        try execute("DELETE FROM apple_grants WHERE account_id = ?1", [.blob(account.bytes)])
    }

    func removeGrants(of account: UUIDv7, obtainedUntil time: UnixTime) throws(SQLiteFailure) {
        try execute(
            "DELETE FROM apple_grants WHERE account_id = ?1 AND obtained_at <= ?2",
            [.blob(account.bytes), .integer(time.milliseconds)])
    }

    /// In both tables: at most one of them has it.
    func replace(_ old: AppleGrant, by new: AppleGrant) throws(SQLiteFailure) {
        let values: [SQLValue] = [
            .blob(old.accountID.bytes), .text(old.clientID), .text(old.keyID), .blob(old.sealed), .text(new.keyID),
            .blob(new.sealed),
        ]
        try execute(
            """
            UPDATE apple_grants SET key_id = ?5, sealed = ?6
            WHERE account_id = ?1 AND client_id = ?2 AND key_id = ?3 AND sealed = ?4
            """, values)
        try execute(
            """
            UPDATE revocations SET key_id = ?5, sealed = ?6
            WHERE account_id = ?1 AND client_id = ?2 AND key_id = ?3 AND sealed = ?4
            """, values)
    }

    func put(_ revocation: Revocation) throws(SQLiteFailure) {
        try execute(
            """
            INSERT OR REPLACE INTO revocations (account_id, client_id, key_id, sealed, obtained_at, attempts, due_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            revocation.grant.values + [.integer(Int64(revocation.attempts)), .integer(revocation.dueAt.milliseconds)])
    }

    /// Those due first first, if they are due at `time`, or all.
    func revocations(due time: UnixTime? = nil, limit: Int) throws(SQLiteFailure) -> [Revocation] {
        var row = try prepare(
            """
            SELECT account_id, client_id, key_id, sealed, obtained_at, attempts, due_at FROM revocations
            WHERE ?1 IS NULL OR due_at <= ?1 OR due_at > ?3 ORDER BY due_at LIMIT ?2
            """)
        let latest = time?.adding(seconds: Revocation.longestWaitSeconds)
        try row.bind([.integer(time?.milliseconds), .integer(Int64(limit)), .integer(latest?.milliseconds)])
        var revocations: [Revocation] = []
        while try row.step() {
            guard let attempts = row.integer(5), let dueAt = row.time(6) else { throw .damagedGrant }
            revocations.append(Revocation(grant: try row.grant(), attempts: Int(attempts), dueAt: dueAt))
        }
        return revocations
    }

    /// Only the grant that was revoked: another may have come in its place.
    func remove(_ revocation: Revocation) throws(SQLiteFailure) {
        try execute(
            "DELETE FROM revocations WHERE account_id = ?1 AND client_id = ?2 AND sealed = ?3",
            [
                .blob(revocation.grant.accountID.bytes), .text(revocation.grant.clientID),
                .blob(revocation.grant.sealed),
            ])
    }
}

extension Statement {
    /// The grant in the first five columns.
    fileprivate func grant() throws(SQLiteFailure) -> AppleGrant {
        guard let accountID = self.id(0), let clientID = try text(1), let keyID = try text(2), let sealed = blob(3),
            let obtainedAt = time(4)
        else { throw .damagedGrant }
        return AppleGrant(
            accountID: accountID, clientID: clientID, keyID: keyID, sealed: sealed, obtainedAt: obtainedAt)
    }
}

extension AppleGrant {
    fileprivate var values: [SQLValue] {
        [
            .blob(accountID.bytes), .text(clientID), .text(keyID), .blob(sealed), .integer(obtainedAt.milliseconds),
        ]
    }
}

extension SQLiteFailure {
    fileprivate static var damagedGrant: SQLiteFailure {
        .unusable("a row of Apple's grants is damaged: restore the file from a backup")
    }
}
#endif
