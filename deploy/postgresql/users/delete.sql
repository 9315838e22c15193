-- The person has their account deleted. $1: its id. What else is held of them goes by the foreign keys of your tables.
DELETE FROM public.users WHERE id = $1
