-- Who is being moved to another team (TN3159). $1: transfer_sub.
SELECT id, apple_sub, apple_transfer_sub AS transfer_sub, name AS full_name, email, email_verified,
    coalesce(apple_email_private, false) AS is_private_email, contact_email, created_at, updated_at, disabled_at,
    apple_consent_revoked_at AS consent_revoked_at, apple_forwarding AS email_forwarding,
    apple_forwarding_since AS email_forwarding_since
FROM public.users
WHERE apple_transfer_sub = $1
FOR UPDATE
