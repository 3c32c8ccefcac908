-- A part of a tuple may not be consumed by a later one.
-- ==
-- error: "xs".*consumed

entry main (xs: *[]i32) = (xs, (xs with [0] = 1)[1])
