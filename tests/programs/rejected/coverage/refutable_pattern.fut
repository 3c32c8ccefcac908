-- A pattern in a binding that may not fit.
-- ==
-- error: Refutable pattern.*does not fit every value

entry main (x: i32) = let 0 = x in 1
