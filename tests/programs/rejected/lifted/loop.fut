-- Functions are no variables of loops.
-- ==
-- error: may not be of function type

entry main (n: i64) = (loop f = (\x -> x + 1i64) for _i < n do \x -> f (f x)) 0
