#if SQLite
internal import Accounts
internal import AppleID
internal import JOSE

/// The table of accounts.
extension Connection {
    func account(subject: String) throws(SQLiteFailure) -> Account? {
        try account(
            """
            SELECT id, full_name, email, email_verified, is_private_email, contact_email, updated_at, apple_sub,
            created_at FROM accounts WHERE apple_sub = ?1
            """, .text(subject))
    }

    func account(_ id: UUIDv7) throws(SQLiteFailure) -> Account? {
        try account(
            """
            SELECT id, full_name, email, email_verified, is_private_email, contact_email, updated_at, apple_sub,
            created_at FROM accounts WHERE id = ?1
            """, .blob(id.bytes))
    }

    func insert(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO accounts (id, full_name, email, email_verified, is_private_email, contact_email, updated_at,
            apple_sub, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, account.values + [.text(account.appleSubject), .integer(account.createdAt.milliseconds)])
    }

    /// Writes what an account can learn.
    func update(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,
            contact_email = ?6, updated_at = ?7 WHERE id = ?1
            """, account.values)
    }

    private func account(_ query: StaticString, _ key: SQLValue) throws(SQLiteFailure) -> Account? {
        var row = try prepare(query)
        try row.bind([key])
        guard try row.step() else { return nil }
        guard let id = row.blob(0).flatMap({ UUIDv7(bytes: $0) }), let updatedAt = row.integer(6),
            let subject = try row.text(7), let createdAt = row.integer(8)
        else { throw .unusable("a row of accounts is damaged: restore the file from a backup") }
        var profile = Profile(fullName: try row.text(1), contactEmail: try row.text(5))
        if let address = try row.text(2) {
            let isVerified = row.integer(3).map { $0 != 0 }
            profile.email = AppleEmail(address: address, isVerified: isVerified, isPrivate: row.integer(4) == 1)
        }
        return Account(
            id: id, appleSubject: subject, profile: profile, createdAt: UnixTime(milliseconds: createdAt),
            updatedAt: UnixTime(milliseconds: updatedAt))
    }
}

extension Account {
    /// The id and what an account can learn, in the order of both statements.
    fileprivate var values: [SQLValue] {
        let email = profile.email
        return [
            .blob(id.bytes), .text(profile.fullName), .text(email?.address),
            .integer(email?.isVerified.map { $0 ? 1 : 0 }), .integer(email.map { $0.isPrivate ? 1 : 0 }),
            .text(profile.contactEmail), .integer(updatedAt.milliseconds),
        ]
    }
}
#endif
