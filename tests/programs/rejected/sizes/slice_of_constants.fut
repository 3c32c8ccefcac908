-- The size of a slice is what is written: 3 - 1.
-- ==
-- error: Sizes "2" and "3 - 1" do not match

entry main (xs: [4]i32) : [2]i32 = xs[1:3]
