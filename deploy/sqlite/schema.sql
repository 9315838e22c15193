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
