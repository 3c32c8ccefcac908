-- Only a lifted type parameter stands for functions.
-- ==
-- error: a type parameter can only stand for a function type if

def same 't (x: t) (y: t) = (x, y)

entry main (x: i32) = (same (\y -> y + x) (\y -> y)).0 1
