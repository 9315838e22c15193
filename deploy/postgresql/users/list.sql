-- The accounts by their ids. $1: those after this one. $2: how many.
SELECT id, apple_sub, apple_transfer_sub AS transfer_sub, name AS full_name, email, email_verified,
    coalesce(apple_email_private, false) AS is_private_email, contact_email, created_at, updated_at, disabled_at,
    apple_consent_revoked_at AS consent_revoked_at, apple_forwarding AS email_forwarding,
    apple_forwarding_since AS email_forwarding_since
FROM public.users
WHERE id > $1
ORDER BY id
LIMIT $2
