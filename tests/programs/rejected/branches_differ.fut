-- Branches of different types.
-- ==
-- error: Branches differ

entry main (b: bool) = if b then 1i32 else 2i64
