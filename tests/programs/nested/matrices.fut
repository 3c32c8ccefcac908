-- Multiplying matrices and vectors.
-- ==
-- entry: matmul
-- input { [[1, 2], [3, 4]] [[5, 6], [7, 8]] }
-- output { [[19, 22], [43, 50]] }
-- input { [[1, 2, 3]] [[1], [10], [100]] }
-- output { [[321]] }

-- ==
-- entry: matvec
-- input { [[1.0, 2.0], [3.0, 4.0]] [10.0, 1.0] }
-- output { [12.0, 34.0] }

-- ==
-- entry: identity
-- input { 3i64 }
-- output { [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }

def dot [n] (xs: [n]i32) (ys: [n]i32) : i32 = i32.sum (map2 (*) xs ys)

entry matmul [n] [m] [p] (a: [n][m]i32) (b: [m][p]i32) : [n][p]i32 =
  map (\row -> map (dot row) (transpose b)) a

entry matvec [n] [m] (a: [n][m]f64) (x: [m]f64) = map (\row -> f64.sum (map2 (*) row x)) a

entry identity (n: i64) = tabulate_2d n n (\i j -> i32.bool (i == j))
