-- #[unsafe] leaves out the checks of its own expression, and no others.
-- ==
-- entry: inside
-- input { [1, 2, 3] 1i64 }
-- output { 2 }

-- ==
-- entry: outside
-- input { [1, 2, 3] 1i64 2i64 }
-- output { 5 }
-- input { [1, 2, 3] 1i64 3i64 }
-- error: Index \[3\] out of bounds

entry inside (xs: []i32) (i: i64) = #[unsafe] xs[i]
entry outside (xs: []i32) (i: i64) (j: i64) = (#[unsafe] xs[i]) + xs[j]
