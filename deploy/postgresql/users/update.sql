-- What becomes of an account. $1 to $14 as in insert.sql. Who has another way in keeps the address that it goes by.
UPDATE public.users SET
    apple_sub = $2,
    apple_transfer_sub = $3,
    name = coalesce(name, $4),
    email = CASE WHEN has_other_login THEN email ELSE $5 END,
    email_verified = CASE WHEN has_other_login THEN email_verified ELSE coalesce($6, false) END,
    apple_email_private = $7,
    contact_email = $8,
    updated_at = $10,
    disabled_at = $11,
    apple_consent_revoked_at = $12,
    apple_forwarding = $13,
    apple_forwarding_since = $14
WHERE id = $1
