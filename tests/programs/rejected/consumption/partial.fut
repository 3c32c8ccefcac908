-- A function with part of its arguments might be called many times.
-- ==
-- error: contains consumption

def set (xs: *[]i32) (i: i64) : *[]i32 = xs with [i] = 0

entry main (xs: *[]i32) = let f = set xs in f 1
