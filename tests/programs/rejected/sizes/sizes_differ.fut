-- Arrays of different sizes where they must agree.
-- ==
-- error: n

entry main [n] [m] (xs: [n]i32) (ys: [m]i32) = map2 (+) xs ys
