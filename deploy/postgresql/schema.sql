-- The tables of auth-apple in PostgreSQL, as `auth-apple store migrate` makes them. The schema is there already.
BEGIN;
SET LOCAL search_path = auth_apple;
CREATE TABLE IF NOT EXISTS schema_steps (
    step bigint PRIMARY KEY,
    taken_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS accounts (
    id uuid PRIMARY KEY,
    apple_sub text NOT NULL UNIQUE,
    transfer_sub text UNIQUE,
    full_name text,
    email text,
    email_verified boolean,
    is_private_email boolean,
    contact_email text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    disabled_at timestamptz,
    consent_revoked_at timestamptz,
    email_forwarding boolean,
    email_forwarding_since timestamptz
);
CREATE TABLE IF NOT EXISTS sessions (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    client_id text NOT NULL,
    device_text text NOT NULL,
    device_info jsonb,
    user_agent text,
    salt bytea NOT NULL,
    refresh_digest bytea NOT NULL,
    refresh_expires_at timestamptz NOT NULL,
    previous_digest bytea,
    previous_rotated_at timestamptz,
    previous_key_id text,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_of_account ON sessions (account_id);
CREATE TABLE IF NOT EXISTS audit (
    account_id uuid NOT NULL,
    number bigint NOT NULL,
    time timestamptz NOT NULL,
    event text NOT NULL,
    session_id uuid,
    reason text,
    request_id text NOT NULL,
    source_address text,
    PRIMARY KEY (account_id, number)
);
CREATE TABLE IF NOT EXISTS receipts (
    name bytea PRIMARY KEY CHECK (octet_length(name) = 32),
    account_id uuid NOT NULL,
    sealed bytea NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS marks (
    name bytea PRIMARY KEY CHECK (octet_length(name) = 32),
    expires_at timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS attempts (
    key bytea PRIMARY KEY CHECK (octet_length(key) = 16),
    window_start timestamptz NOT NULL,
    count bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS apple_grants (
    account_id uuid NOT NULL,
    client_id text NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    obtained_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, client_id)
);
CREATE TABLE IF NOT EXISTS revocations (
    account_id uuid NOT NULL,
    client_id text NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    obtained_at timestamptz NOT NULL,
    attempts bigint NOT NULL,
    due_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, client_id)
);
INSERT INTO schema_steps (step) VALUES (1) ON CONFLICT DO NOTHING;
COMMIT;
