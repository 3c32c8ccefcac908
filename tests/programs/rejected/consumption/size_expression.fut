-- Sizes only look at values.
-- ==
-- error: "xs".*not consumable

def head (xs: *[]i64) : i64 = (xs with [0] = 1)[0]

def f (xs: *[]i64) (ys: [head xs]i32) = ys

entry main = 1
