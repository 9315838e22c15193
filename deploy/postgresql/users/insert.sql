-- Somebody new. $1 to $14: the columns of an account, in the order in which the SELECTs give them. Gives no row if there is
-- somebody with this apple_sub, who came a moment ago.
INSERT INTO public.users (
    id, apple_sub, apple_transfer_sub, name, email, email_verified, apple_email_private, contact_email, created_at,
    updated_at, disabled_at, apple_consent_revoked_at, apple_forwarding, apple_forwarding_since
)
VALUES ($1, $2, $3, $4, $5, coalesce($6, false), $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (apple_sub) DO NOTHING
RETURNING id
