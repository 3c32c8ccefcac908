-- Unique results share no memory with each other.
-- ==
-- error: aliased to some other component

entry main (xs: *[]i32) : (*[]i32, *[]i32) = let ys = xs[1:] in (xs, ys)
