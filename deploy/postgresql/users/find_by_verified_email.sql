-- Everybody with this address, for AUTH_APPLE_LINK_VERIFIED_EMAIL. The program links the one that is alone with it, has it
-- verified, has no apple_sub, and whose spelling differs in nothing but the case of A to Z.
SELECT id, apple_sub, apple_transfer_sub AS transfer_sub, name AS full_name, email, email_verified,
    coalesce(apple_email_private, false) AS is_private_email, contact_email, created_at, updated_at, disabled_at,
    apple_consent_revoked_at AS consent_revoked_at, apple_forwarding AS email_forwarding,
    apple_forwarding_since AS email_forwarding_since
FROM public.users
WHERE lower(email) = lower($1)
FOR UPDATE
