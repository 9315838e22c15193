#if SQLite
/// The schema, as the steps that lead to it. `user_version` counts the steps that a file has taken, and each step ends by
/// writing it. A step, once released, never changes. `deploy/sqlite/schema.sql` is the same text.
///
/// Ids are BLOBs of 16 bytes and the tables have no rowid: measured with 50 000 accounts, the file is a fifth smaller than
/// with ids as text, and a sign-in writes half a page less to the log. An operator reads one with `lower(hex(id))`. Times
/// are milliseconds since 1970 in UTC. There is no index for the purge: each index is one more page in every sign-in,
/// and time-ordered ids already tell which sessions are too young to have expired.
///
/// The audit lies by account, in the order of its numbers, which begin at 1 and have no gaps: what was taken out of the middle
/// shows. It has no foreign key, as it outlives the account. Two triggers keep a slip of ours or of an operator's from
/// rewriting it. There is none against DELETE: the purge has to delete, and whoever means harm and may write the file
/// can drop a trigger as well.
///
/// A receipt names its account so that it goes with it. Neither receipts nor marks nor attempts are looked for but by key. A
/// revocation outlives its account: it has what Apple is still to be told.
enum Schema {
    /// "SiwA": marks the file as ours (https://sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x5369_7741

    static let steps: [StaticString] = [accountsAndSessions, wholeLife]

    static let accountsAndSessions: StaticString = """
        CREATE TABLE accounts (
            id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16),
            apple_sub TEXT NOT NULL UNIQUE,
            full_name TEXT,
            email TEXT,
            email_verified INTEGER,
            is_private_email INTEGER,
            contact_email TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            disabled_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE sessions (
            id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16),
            account_id BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            client_id TEXT NOT NULL,
            device_info TEXT NOT NULL,
            user_agent TEXT,
            salt BLOB NOT NULL,
            refresh_digest BLOB NOT NULL,
            refresh_expires_at INTEGER NOT NULL,
            previous_digest BLOB,
            previous_rotated_at INTEGER,
            previous_key_id TEXT,
            created_at INTEGER NOT NULL,
            last_used_at INTEGER NOT NULL,
            ends_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL GENERATED ALWAYS AS (min(ends_at, refresh_expires_at))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_of_account ON sessions (account_id);
        CREATE TABLE audit (
            account_id BLOB NOT NULL CHECK (length(account_id) = 16),
            number INTEGER NOT NULL,
            time INTEGER NOT NULL,
            event TEXT NOT NULL,
            session_id BLOB,
            reason TEXT,
            request_id TEXT NOT NULL,
            source_address TEXT,
            PRIMARY KEY (account_id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER audit_is_not_changed
            BEFORE UPDATE OF account_id, number, time, event, session_id, reason, request_id ON audit
            BEGIN SELECT raise(ABORT, 'the audit is not changed'); END;
        CREATE TRIGGER audit_addresses_are_only_removed
            BEFORE UPDATE OF source_address ON audit WHEN new.source_address IS NOT NULL
            BEGIN SELECT raise(ABORT, 'the audit is not changed'); END;
        CREATE TABLE receipts (
            name BLOB PRIMARY KEY NOT NULL CHECK (length(name) = 32),
            account_id BLOB NOT NULL,
            sealed BLOB NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE attempts (
            key BLOB PRIMARY KEY NOT NULL CHECK (length(key) = 16),
            window_start INTEGER NOT NULL,
            count INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        PRAGMA application_id = 0x53697741;
        PRAGMA user_version = 1;
        """

    static let wholeLife: StaticString = """
        ALTER TABLE accounts ADD COLUMN transfer_sub TEXT;
        ALTER TABLE accounts ADD COLUMN consent_revoked_at INTEGER;
        ALTER TABLE accounts ADD COLUMN email_forwarding INTEGER;
        ALTER TABLE accounts ADD COLUMN email_forwarding_since INTEGER;
        CREATE UNIQUE INDEX accounts_in_transfer ON accounts (transfer_sub) WHERE transfer_sub IS NOT NULL;
        CREATE TABLE marks (
            name BLOB PRIMARY KEY NOT NULL CHECK (length(name) = 32),
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE apple_grants (
            account_id BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            client_id TEXT NOT NULL,
            key_id TEXT NOT NULL,
            sealed BLOB NOT NULL,
            obtained_at INTEGER NOT NULL,
            PRIMARY KEY (account_id, client_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE revocations (
            account_id BLOB NOT NULL CHECK (length(account_id) = 16),
            client_id TEXT NOT NULL,
            key_id TEXT NOT NULL,
            sealed BLOB NOT NULL,
            obtained_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            PRIMARY KEY (account_id, client_id)
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 2;
        """
}

extension Connection {
    /// Whether the file is ours and has the schema of this program: a quick look, which needs no transaction, since a
    /// version never appears without the mark. Everything else is for `migrate` to judge.
    func hasCurrentSchema() throws(SQLiteFailure) -> Bool {
        guard try integer("PRAGMA user_version") == Int64(Schema.steps.count) else { return false }
        return try integer("PRAGMA application_id") == Schema.applicationID
    }

    /// The schema's version; 0 for an empty file. Another program's file, or a newer one of ours, is refused.
    ///
    /// It is read within a transaction. Else a file that is just being created looks like another program's: no version
    /// yet, and tables a moment later.
    func schemaVersion() throws(SQLiteFailure) -> Int {
        let version = Int(try integer("PRAGMA user_version") ?? 0)
        let application = try integer("PRAGMA application_id") ?? 0
        if version == 0, application == 0, try integer("SELECT count(*) FROM sqlite_schema") == 0 { return 0 }
        guard application == Schema.applicationID, version > 0 else {
            throw .unusable("the file is another program's database: choose another path")
        }
        guard version <= Schema.steps.count else {
            throw .unusable(
                "schema \(version) is newer than this program, which knows \(Schema.steps.count): upgrade it")
        }
        return version
    }

    /// Takes the steps that are missing, all or none. The version is read again once no other process can write.
    func migrate() throws(SQLiteFailure) -> (from: Int, to: Int) {
        try transaction { connection throws(SQLiteFailure) in
            let version = try connection.schemaVersion()
            for step in Schema.steps[version...] { try connection.executeAll(step) }
            return (version, try connection.schemaVersion())
        }
    }

    /// Runs `body` as one transaction that nobody else writes into, durable when it returns and undone when it throws.
    ///
    /// `IMMEDIATE` takes the write lock before the first read: a transaction that reads first and writes later could find
    /// that what it read is past (SQLITE_BUSY_SNAPSHOT), which no waiting cures.
    func transaction<Result>(
        _ body: (borrowing Connection) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            let result = try body(self)
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }
}
#endif
