-- What that table needs for Sign in with Apple, and what the function may do with it. To be run after ../role.sql.
BEGIN;
-- Who comes by Apple may have no address, or one that somebody else has here: their `sub` is who they are.
ALTER TABLE public.users
    ALTER COLUMN email DROP NOT NULL,
    ADD COLUMN apple_sub text UNIQUE,
    ADD COLUMN apple_transfer_sub text UNIQUE,
    ADD COLUMN apple_email_private boolean,
    ADD COLUMN apple_consent_revoked_at timestamptz,
    ADD COLUMN apple_forwarding boolean,
    ADD COLUMN apple_forwarding_since timestamptz,
    ADD COLUMN contact_email text,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN disabled_at timestamptz,
    -- So that the function need not see the other ways in.
    ADD COLUMN has_other_login boolean GENERATED ALWAYS AS (password_hash IS NOT NULL OR google_sub IS NOT NULL) STORED;
CREATE INDEX users_by_email ON public.users (lower(email));

-- Column by column: password hashes are neither read nor written.
GRANT SELECT (
    id, email, email_verified, name, created_at, updated_at, disabled_at, contact_email, apple_sub, apple_transfer_sub,
    apple_email_private, apple_consent_revoked_at, apple_forwarding, apple_forwarding_since, has_other_login
) ON public.users TO auth_apple_function, auth_apple_operator;
GRANT INSERT (
    id, email, email_verified, name, created_at, updated_at, disabled_at, contact_email, apple_sub, apple_transfer_sub,
    apple_email_private, apple_consent_revoked_at, apple_forwarding, apple_forwarding_since
) ON public.users TO auth_apple_function, auth_apple_operator;
GRANT UPDATE (
    email, email_verified, name, updated_at, disabled_at, contact_email, apple_sub, apple_transfer_sub,
    apple_email_private, apple_consent_revoked_at, apple_forwarding, apple_forwarding_since
) ON public.users TO auth_apple_function, auth_apple_operator;
GRANT DELETE ON public.users TO auth_apple_function, auth_apple_operator;
COMMIT;
