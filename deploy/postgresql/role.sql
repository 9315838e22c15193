-- The roles of auth-apple, each with what it needs and no more, and the schema. To be run by a superuser (or whoever owns the
-- database and may make roles), once at the beginning and again after every `auth-apple store migrate`:
--
--   psql -v ON_ERROR_STOP=1 -d DATABASE -f deploy/postgresql/role.sql
--
--   auth_apple_migrator   owns the schema and changes it:      auth-apple store migrate
--   auth_apple_function   answers requests; no DDL, and of the audit it changes nothing and takes nothing away
--   auth_apple_operator   the same, and removes what is old:   auth-apple store purge, accounts …
--
-- None has a password yet: \password auth_apple_function, or a client certificate.
BEGIN;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['auth_apple_migrator', 'auth_apple_function', 'auth_apple_operator'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION', name);
        END IF;
    END LOOP;
END
$$;

CREATE SCHEMA IF NOT EXISTS auth_apple AUTHORIZATION auth_apple_migrator;
REVOKE ALL ON SCHEMA auth_apple FROM PUBLIC;
COMMIT;

-- The tables, as their owner. The script makes its own transaction, and nothing that is there already.
SET ROLE auth_apple_migrator;
\ir schema.sql
RESET ROLE;

BEGIN;
GRANT USAGE ON SCHEMA auth_apple TO auth_apple_function, auth_apple_operator;
REVOKE ALL ON ALL TABLES IN SCHEMA auth_apple FROM PUBLIC, auth_apple_function, auth_apple_operator;
SET LOCAL search_path = auth_apple;
GRANT SELECT ON schema_steps TO auth_apple_function, auth_apple_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON accounts, sessions, receipts, apple_grants, revocations
    TO auth_apple_function, auth_apple_operator;
GRANT SELECT, INSERT, UPDATE ON marks, attempts TO auth_apple_function;
GRANT SELECT, INSERT, UPDATE, DELETE ON marks, attempts TO auth_apple_operator;
-- When an account is deleted, the addresses that its requests came from go out of the audit.
GRANT SELECT, INSERT, UPDATE (source_address) ON audit TO auth_apple_function, auth_apple_operator;
GRANT DELETE ON audit TO auth_apple_operator;
COMMIT;
