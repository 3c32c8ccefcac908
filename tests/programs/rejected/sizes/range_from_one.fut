-- The size of a range without a step is what is written: n - 1 + 1.
-- ==
-- error: Sizes "n" and ".*" do not match

entry main (n: i64) : [n]i64 = 1...n
