-- The new value may not be part of the array that is updated.
-- ==
-- error: in-place update.*"xs"

entry main (xs: *[][]i32) = xs with [0] = xs[1]
