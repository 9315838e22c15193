CREATE TABLE accounts (
    id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16),
    apple_sub TEXT NOT NULL UNIQUE,
    full_name TEXT,
    email TEXT,
    email_verified INTEGER,
    is_private_email INTEGER,
    contact_email TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16),
    account_id BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    device_info TEXT NOT NULL,
    refresh_digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_account ON sessions (account_id);
PRAGMA application_id = 0x53697741;
PRAGMA user_version = 1;
