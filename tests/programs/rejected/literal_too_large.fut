-- A number that its type cannot hold.
-- ==
-- error: 256 out of bounds

entry main : u8 = 256
