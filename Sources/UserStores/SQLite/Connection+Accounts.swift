#if SQLite
internal import Accounts
internal import AppleID
internal import JOSE

/// The table of accounts.
extension Connection {
    func account(subject: String) throws(SQLiteFailure) -> Account? {
        try account(
            """
            SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
            updated_at, disabled_at FROM accounts WHERE apple_sub = ?1
            """, .text(subject))
    }

    func account(_ id: UUIDv7) throws(SQLiteFailure) -> Account? {
        try account(
            """
            SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
            updated_at, disabled_at FROM accounts WHERE id = ?1
            """, .blob(id.bytes))
    }

    private func account(_ query: StaticString, _ key: SQLValue) throws(SQLiteFailure) -> Account? {
        var row = try prepare(query)
        try row.bind([key])
        return try row.step() ? try row.account(from: 0) : nil
    }

    func insert(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO accounts (id, full_name, email, email_verified, is_private_email, contact_email, updated_at,
            disabled_at, apple_sub, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """, account.values + [.text(account.appleSubject), .integer(account.createdAt.milliseconds)])
    }

    /// Writes what can change of an account.
    func update(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,
            contact_email = ?6, updated_at = ?7, disabled_at = ?8 WHERE id = ?1
            """, account.values)
    }

    /// Removes an account and all that is held of the person; what the audit keeps no longer says from where.
    func remove(_ account: UUIDv7) throws(SQLiteFailure) {
        try removeSessionsAndReceipts(of: account)
        try execute("DELETE FROM accounts WHERE id = ?1", [.blob(account.bytes)])
        try execute(
            "UPDATE audit SET source_address = NULL WHERE account_id = ?1 AND source_address IS NOT NULL",
            [.blob(account.bytes)])
    }

    /// Whoever repeats a request then is not given the tokens of a session that was ended.
    func removeSessionsAndReceipts(of account: UUIDv7) throws(SQLiteFailure) {
        try execute("DELETE FROM sessions WHERE account_id = ?1", [.blob(account.bytes)])
        try execute("DELETE FROM receipts WHERE account_id = ?1", [.blob(account.bytes)])
    }
}

extension Statement {
    /// The account in ten columns, in the order of the table.
    func account(from first: Int32) throws(SQLiteFailure) -> Account {
        guard let id = self.id(first), let subject = try text(first + 1), let createdAt = time(first + 7),
            let updatedAt = time(first + 8)
        else { throw .unusable("a row of accounts is damaged: restore the file from a backup") }
        var profile = Profile(fullName: try text(first + 2), contactEmail: try text(first + 6))
        if let address = try text(first + 3) {
            profile.email = AppleEmail(
                address: address, isVerified: integer(first + 4).map { $0 != 0 }, isPrivate: integer(first + 5) == 1)
        }
        return Account(
            id: id, appleSubject: subject, profile: profile, createdAt: createdAt, updatedAt: updatedAt,
            disabledAt: time(first + 9))
    }
}

extension Account {
    /// The id and what can change, in the order of both statements.
    fileprivate var values: [SQLValue] {
        let email = profile.email
        return [
            .blob(id.bytes), .text(profile.fullName), .text(email?.address),
            .integer(email?.isVerified.map { $0 ? 1 : 0 }), .integer(email.map { $0.isPrivate ? 1 : 0 }),
            .text(profile.contactEmail), .integer(updatedAt.milliseconds), .integer(disabledAt?.milliseconds),
        ]
    }
}
#endif
