-- Nor is a size taken apart.
-- ==
-- error: \[n\].*part of.*sizes

entry main [n] (xs: [n + 1]i32) = xs[0] + i32.i64 n
