-- The example: a users table as many have one, of an app whose people signed in with Google or with a password until now.
CREATE TABLE public.users (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    email text NOT NULL,
    email_verified boolean NOT NULL DEFAULT false,
    password_hash text,
    google_sub text UNIQUE,
    name text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_with_password ON public.users (lower(email)) WHERE password_hash IS NOT NULL;
