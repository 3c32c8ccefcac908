-- Slices outside, and what is valid at the edges.
-- ==
-- entry: plain
-- input { [1, 2, 3] 0i64 3i64 }
-- output { [1, 2, 3] }
-- input { [1, 2, 3] 3i64 3i64 }
-- output { empty([0]i32) }
-- input { [1, 2, 3] 1i64 4i64 }
-- error: Index \[1:4\] out of bounds for array of shape \[3\]
-- input { [1, 2, 3] 2i64 1i64 }
-- error: Index \[2:1\] out of bounds for array of shape \[3\]

-- ==
-- entry: strided
-- input { [1, 2, 3, 4] 0i64 4i64 2i64 }
-- output { [1, 3] }
-- input { [1, 2, 3, 4] 3i64 -1i64 -1i64 }
-- output { [4, 3, 2, 1] }
-- input { [1, 2, 3, 4] 0i64 4i64 0i64 }
-- error: out of bounds
-- input { [1, 2, 3, 4] 4i64 0i64 -1i64 }
-- error: Index \[4:0:-1\] out of bounds for array of shape \[4\]

-- ==
-- entry: from
-- input { [1, 2, 3] 4i64 }
-- error: Index \[4:\] out of bounds for array of shape \[3\]

entry plain (xs: []i32) (i: i64) (j: i64) = xs[i:j]
entry strided (xs: []i32) (i: i64) (j: i64) (s: i64) = xs[i:j:s]
entry from (xs: []i32) (i: i64) = xs[i:]
