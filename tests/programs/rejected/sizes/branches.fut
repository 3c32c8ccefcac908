-- Branches may have different sizes, but then the result has neither.
-- ==
-- error: size of a branch: \[a\] or \[b\]

entry main (choose: bool) (a: i64) (b: i64) : [a]i64 = if choose then iota a else iota b
