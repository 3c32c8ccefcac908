-- The parts of a tuple are evaluated from left to right.
-- ==
-- error: "xs".*consumed

entry main (xs: *[]i32) = (xs with [0] = 1, xs[0])
