-- A declared size of a result has to be the body's.
-- ==
-- error: \[n\]i32

entry main [n] [m] (xs: [n]i32) (ys: [m]i32) : [n]i32 = map (* 2) ys
