#if PostgreSQL
internal import Accounts
internal import JOSE

/// The tables of Apple's grants and of those to be revoked.
extension SQLStatement {
    private static let grantColumns = "account_id, client_id, key_id, sealed, obtained_at"

    static func keep(_ grant: AppleGrant) -> SQLStatement {
        SQLStatement(
            """
            INSERT INTO apple_grants (\(grantColumns)) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (account_id, client_id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed,
            obtained_at = excluded.obtained_at
            """, grant.parameters)
    }

    static func grants(of account: UUIDv7) -> SQLStatement {
        SQLStatement(
            "SELECT \(grantColumns) FROM apple_grants WHERE account_id = $1 ORDER BY client_id", [.uuid(account)])
    }

    static func removeGrants(of account: UUIDv7) -> SQLStatement {
        SQLStatement("DELETE FROM apple_grants WHERE account_id = $1", [.uuid(account)])
    }

    static func removeGrants(of account: UUIDv7, obtainedUntil end: UnixTime) -> SQLStatement {
        SQLStatement(
            "DELETE FROM apple_grants WHERE account_id = $1 AND obtained_at <= $2", [.uuid(account), .time(end)])
    }

    /// In both tables: at most one of them has it.
    static func replace(_ old: AppleGrant, by new: AppleGrant) -> [SQLStatement] {
        let parameters: [SQLParameter] = [
            .uuid(old.accountID), .text(old.clientID), .text(old.keyID), .bytes(old.sealed), .text(new.keyID),
            .bytes(new.sealed),
        ]
        return ["apple_grants", "revocations"].map { table in
            SQLStatement(
                """
                UPDATE \(table) SET key_id = $5, sealed = $6
                WHERE account_id = $1 AND client_id = $2 AND key_id = $3 AND sealed = $4
                """, parameters)
        }
    }

    static func put(_ revocation: Revocation) -> SQLStatement {
        SQLStatement(
            """
            INSERT INTO revocations (\(grantColumns), attempts, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (account_id, client_id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed,
            obtained_at = excluded.obtained_at, attempts = excluded.attempts, due_at = excluded.due_at
            """,
            revocation.grant.parameters + [.integer(Int64(revocation.attempts)), .time(revocation.dueAt)])
    }

    /// Those due first first, if they are due at `time`, or all. Who takes them passes over those that another is taking.
    static func revocations(due time: UnixTime? = nil, limit: Int, isTaking: Bool = false) -> SQLStatement {
        SQLStatement(
            """
            SELECT \(grantColumns), attempts, due_at FROM revocations
            WHERE $1 IS NULL OR due_at <= $1 OR due_at > $3
            ORDER BY due_at LIMIT $2\(isTaking ? " FOR UPDATE SKIP LOCKED" : "")
            """,
            [.time(time), .integer(Int64(limit)), .time(time?.adding(seconds: Revocation.longestWaitSeconds))])
    }

    /// Only the grant that was revoked: another may have come in its place.
    static func remove(_ revocation: Revocation) -> SQLStatement {
        SQLStatement(
            "DELETE FROM revocations WHERE account_id = $1 AND client_id = $2 AND sealed = $3",
            [
                .uuid(revocation.grant.accountID), .text(revocation.grant.clientID), .bytes(revocation.grant.sealed),
            ])
    }
}

extension SQLRow {
    func grant() throws(PostgreSQLFailure) -> AppleGrant {
        guard let accountID = try id("account_id"), let clientID = try text("client_id"),
            let keyID = try text("key_id"), let sealed = try bytes("sealed"), let obtainedAt = try time("obtained_at")
        else { throw .unusable("a row of Apple's grants is damaged: restore it from a backup") }
        return AppleGrant(
            accountID: accountID, clientID: clientID, keyID: keyID, sealed: sealed, obtainedAt: obtainedAt)
    }

    func revocation() throws(PostgreSQLFailure) -> Revocation {
        guard let attempts = try integer("attempts"), let dueAt = try time("due_at") else {
            throw .unusable("a row of revocations is damaged: restore it from a backup")
        }
        return Revocation(grant: try grant(), attempts: Int(attempts), dueAt: dueAt)
    }
}

extension AppleGrant {
    fileprivate var parameters: [SQLParameter] {
        [.uuid(accountID), .text(clientID), .text(keyID), .bytes(sealed), .time(obtainedAt)]
    }
}
#endif
