-- Indices outside are reported with the shape.
-- ==
-- entry: vector
-- input { [1, 2, 3] 2i64 }
-- output { 3 }
-- input { [1, 2, 3] 3i64 }
-- error: Index \[3\] out of bounds for array of shape \[3\]
-- input { [1, 2, 3] -1i64 }
-- error: Index \[-1\] out of bounds for array of shape \[3\]
-- input { empty([0]i32) 0i64 }
-- error: Index \[0\] out of bounds for array of shape \[0\]

-- ==
-- entry: matrix
-- input { [[1, 2], [3, 4]] 1i64 2i64 }
-- error: Index \[1, 2\] out of bounds for array of shape \[2\]\[2\]

-- ==
-- entry: in_map
-- input { [1, 2, 3] [0i64, 2i64] }
-- output { [1, 3] }
-- input { [1, 2, 3] [0i64, 7i64] }
-- error: Index \[7\] out of bounds for array of shape \[3\]

-- ==
-- entry: updating
-- input { [1, 2, 3] 5i64 }
-- error: Index \[5\] out of bounds for array of shape \[3\]

entry vector (xs: []i32) (i: i64) = xs[i]
entry matrix (xss: [][]i32) (i: i64) (j: i64) = xss[i, j]
entry in_map (xs: []i32) (is: []i64) = map (\i -> xs[i]) is
entry updating (xs: *[]i32) (i: i64) = xs with [i] = 0
