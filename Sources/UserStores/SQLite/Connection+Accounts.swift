#if SQLite
internal import Accounts
internal import AppleID
internal import JOSE

/// The table of accounts.
extension Connection {
    func account(_ key: AccountKey) throws(SQLiteFailure) -> Account? {
        switch key {
        case .id(let id):
            try account(
                """
                SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
                updated_at, disabled_at, transfer_sub, consent_revoked_at, email_forwarding, email_forwarding_since
                FROM accounts WHERE id = ?1
                """, .blob(id.bytes))
        case .appleSubject(let subject):
            try account(
                """
                SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
                updated_at, disabled_at, transfer_sub, consent_revoked_at, email_forwarding, email_forwarding_since
                FROM accounts WHERE apple_sub = ?1
                """, .text(subject))
        }
    }

    func account(transferredAs subject: String) throws(SQLiteFailure) -> Account? {
        try account(
            """
            SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
            updated_at, disabled_at, transfer_sub, consent_revoked_at, email_forwarding, email_forwarding_since
            FROM accounts WHERE transfer_sub = ?1
            """, .text(subject))
    }

    private func account(_ query: StaticString, _ key: SQLValue) throws(SQLiteFailure) -> Account? {
        var row = try prepare(query)
        try row.bind([key])
        return try row.step() ? try row.account(from: 0) : nil
    }

    func accounts(after last: UUIDv7?, limit: Int) throws(SQLiteFailure) -> [Account] {
        var row = try prepare(
            """
            SELECT id, apple_sub, full_name, email, email_verified, is_private_email, contact_email, created_at,
            updated_at, disabled_at, transfer_sub, consent_revoked_at, email_forwarding, email_forwarding_since
            FROM accounts WHERE id > ?1 ORDER BY id LIMIT ?2
            """)
        try row.bind([.blob(last?.bytes ?? []), .integer(Int64(limit))])
        var accounts: [Account] = []
        while try row.step() { accounts.append(try row.account(from: 0)) }
        return accounts
    }

    func insert(_ account: Account) throws(SQLiteFailure) {
        try execute(
            """
            INSERT INTO accounts (id, apple_sub, full_name, email, email_verified, is_private_email, contact_email,
            updated_at, disabled_at, transfer_sub, consent_revoked_at, email_forwarding, email_forwarding_since, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            """, account.values + [.integer(account.createdAt.milliseconds)])
    }

    /// Writes what can change of an account. Grants of another `sub` were another team's.
    func update(_ account: Account, from known: Account) throws(SQLiteFailure) {
        guard account != known else { return }
        try execute(
            """
            UPDATE accounts SET apple_sub = ?2, full_name = ?3, email = ?4, email_verified = ?5, is_private_email = ?6,
            contact_email = ?7, updated_at = ?8, disabled_at = ?9, transfer_sub = ?10, consent_revoked_at = ?11,
            email_forwarding = ?12, email_forwarding_since = ?13 WHERE id = ?1
            """, account.values)
        if account.isRebound(from: known) { try removeGrants(of: account.id) }
    }

    /// Removes an account and all that is held of the person; what the audit keeps no longer says from where.
    func remove(_ account: UUIDv7) throws(SQLiteFailure) {
        try execute("DELETE FROM sessions WHERE account_id = ?1", [.blob(account.bytes)])
        try removeReceipts(of: account)
        try removeGrants(of: account)
        try execute("DELETE FROM accounts WHERE id = ?1", [.blob(account.bytes)])
        try execute(
            "UPDATE audit SET source_address = NULL WHERE account_id = ?1 AND source_address IS NOT NULL",
            [.blob(account.bytes)])
    }
}

extension Statement {
    /// The account in fourteen columns, in the order of the queries.
    func account(from first: Int32) throws(SQLiteFailure) -> Account {
        guard let id = self.id(first), let subject = try text(first + 1), let createdAt = time(first + 7),
            let updatedAt = time(first + 8)
        else { throw .unusable("a row of accounts is damaged: restore the file from a backup") }
        var profile = Profile(fullName: try text(first + 2), contactEmail: try text(first + 6))
        if let address = try text(first + 3) {
            profile.email = AppleEmail(
                address: address, isVerified: integer(first + 4).map { $0 != 0 }, isPrivate: integer(first + 5) == 1)
        }
        var forwarding: EmailForwarding?
        if let isOn = integer(first + 12), let since = time(first + 13) {
            forwarding = EmailForwarding(isOn: isOn != 0, since: since)
        }
        return Account(
            id: id, appleSubject: subject, transferSubject: try text(first + 10), profile: profile,
            createdAt: createdAt, updatedAt: updatedAt, disabledAt: time(first + 9),
            consentRevokedAt: time(first + 11), forwarding: forwarding)
    }
}

extension Account {
    /// The id and what can change, in the order of both statements.
    fileprivate var values: [SQLValue] {
        let email = profile.email
        return [
            .blob(id.bytes), .text(appleSubject), .text(profile.fullName), .text(email?.address),
            .integer(email?.isVerified.map { $0 ? 1 : 0 }), .integer(email.map { $0.isPrivate ? 1 : 0 }),
            .text(profile.contactEmail), .integer(updatedAt.milliseconds), .integer(disabledAt?.milliseconds),
            .text(transferSubject), .integer(consentRevokedAt?.milliseconds),
            .integer(forwarding.map { $0.isOn ? 1 : 0 }), .integer(forwarding?.since.milliseconds),
        ]
    }
}
#endif
