-- A record without the field.
-- ==
-- error: z

entry main (x: i32) = {x, y = x}.z
