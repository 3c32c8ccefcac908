-- Arrays as values: literals, indexing, slices, shapes.
-- ==
-- entry: pick
-- input { [10, 20, 30] 1i64 } output { 20 }
-- input { [10, 20, 30] 3i64 } error: Index \[3\] out of bounds for array of shape \[3\]
-- input { [10, 20, 30] -1i64 } error: Index \[-1\] out of bounds

-- ==
-- entry: slices
-- input { [0, 1, 2, 3, 4, 5] } output { [1, 2, 3] [5, 4, 3, 2, 1, 0] [0, 2, 4] empty([0]i32) }

-- ==
-- entry: middle
-- input { [1, 2, 3, 4] 1i64 3i64 } output { [2, 3] }
-- input { [1, 2, 3, 4] 2i64 2i64 } output { empty([0]i32) }
-- input { [1, 2, 3, 4] 2i64 5i64 } error: \[2:5\] out of bounds for array of shape \[4\]

-- ==
-- entry: shapes
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [[1, 4], [2, 5], [3, 6]] [1, 2, 3, 4, 5, 6] [[1, 2], [3, 4], [5, 6]] }
-- input { empty([0][2]i32) } output { empty([2][0]i32) empty([0]i32) empty([2][0]i32) }

-- ==
-- entry: ranges
-- input { 5i64 } output { [0i64, 1i64, 2i64, 3i64, 4i64] [5i64, 3i64, 1i64] [7i64, 7i64, 7i64, 7i64, 7i64] }

-- ==
-- entry: joined
-- input { [1, 2] [3] } output { [1, 2, 3] [3, 1, 2] }

entry pick (xs: []i32) (i: i64) = xs[i]

entry slices (xs: [6]i32) = (xs[1:4], xs[::-1], xs[::2], xs[3:3])

entry middle (xs: []i32) (i: i64) (j: i64) = xs[i:j]

entry shapes [n] [m] (xss: [n][m]i32) =
  (transpose xss, flatten xss, unflatten (flatten xss :> [m * n]i32))

entry ranges (n: i64) = (iota n, n..n-2...1, replicate n 7i64)

entry joined [n] [m] (xs: [n]i32) (ys: [m]i32) = (xs ++ ys, rotate (-m) (xs ++ ys))
