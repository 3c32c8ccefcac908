-- A pattern in a binding that may not fit.
-- ==
-- error: .

entry main (x: i32) = let 0 = x in 1
