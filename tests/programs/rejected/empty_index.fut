-- An index without a position.
-- ==
-- error: at least one position

entry main (xs: []i32) = xs[]
