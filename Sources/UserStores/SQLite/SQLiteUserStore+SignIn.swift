#if SQLite
package import Accounts
internal import AppleID
internal import JOSE

extension SQLiteUserStore {
    package func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session) {
        try transaction { connection throws(SQLiteFailure) in
            let known = try connection.account(subject: candidate.appleSubject)
            let account: Account
            if let known {
                account = known.learning(candidate.profile, at: candidate.updatedAt)
                if account != known { try connection.update(account) }
            } else {
                account = candidate
                try connection.insert(account)
            }
            let opened = session(account)
            try connection.insert(opened)
            return (account, known == nil, opened)
        }
    }
}

extension Connection {
    func account(subject: String) throws(SQLiteFailure) -> Account? {
        var row = try prepare(
            """
            SELECT id, full_name, email, email_verified, is_private_email, contact_email, created_at, updated_at
            FROM accounts WHERE apple_sub = ?1
            """)
        try row.bind([.text(subject)])
        guard try row.step() else { return nil }
        guard let id = row.blob(0).flatMap(UUIDv7.init(bytes:)), let createdAt = row.integer(6),
            let updatedAt = row.integer(7)
        else { throw .unusable("a row of accounts is damaged: restore the file from a backup") }
        let email = try row.text(2).map { address in
            AppleEmail(
                address: address, isVerified: row.integer(3).map { $0 != 0 }, isPrivate: row.integer(4) == 1)
        }
        return Account(
            id: id, appleSubject: subject,
            profile: Profile(fullName: try row.text(1), email: email, contactEmail: try row.text(5)),
            createdAt: UnixTime(milliseconds: createdAt), updatedAt: UnixTime(milliseconds: updatedAt))
    }

    func insert(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO accounts (id, full_name, email, email_verified, is_private_email, contact_email, updated_at,
            apple_sub, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            account.values + [.text(account.appleSubject), .integer(account.createdAt.milliseconds)])
    }

    /// Writes what an account can learn.
    func update(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,
            contact_email = ?6, updated_at = ?7 WHERE id = ?1
            """,
            account.values)
    }

    func insert(_ session: Session) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO sessions (id, account_id, client_id, device_info, refresh_digest, created_at, expires_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .blob(session.id.bytes), .blob(session.accountID.bytes), .text(session.clientID),
                .text(session.deviceInfo.json.text), .blob(session.refreshDigest),
                .integer(session.createdAt.milliseconds),
                .integer(session.expiresAt.milliseconds),
            ])
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
