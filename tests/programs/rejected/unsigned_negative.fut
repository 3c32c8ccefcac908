-- Unsigned numbers are not negative.
-- ==
-- error: Literal -4 out of bounds for inferred type u8

entry main : u8 = -4
