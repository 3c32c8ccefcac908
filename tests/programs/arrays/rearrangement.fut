-- Reversing, rotating, transposing, reshaping.
-- ==
-- entry: rows
-- input { [1, 2, 3, 4, 5] }
-- output { [5, 4, 3, 2, 1] [3, 4, 5, 1, 2] [4, 5, 1, 2, 3] }

-- ==
-- entry: transposed
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [[1, 4], [2, 5], [3, 6]] }

-- ==
-- entry: flat
-- input { [[1, 2], [3, 4], [5, 6]] }
-- output { [1, 2, 3, 4, 5, 6] }
-- input { empty([0][2]i32) }
-- output { empty([0]i32) }

-- ==
-- entry: folded
-- input { 2i64 3i64 [1, 2, 3, 4, 5, 6] }
-- output { [[1, 2, 3], [4, 5, 6]] }

-- ==
-- entry: deep
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }
-- output { [1, 2, 3, 4, 5, 6, 7, 8] [[[1, 5], [3, 7]], [[2, 6], [4, 8]]] }

entry rows (xs: []i32) = (reverse xs, rotate 2 xs, rotate (-2) xs)
entry transposed (xss: [][]i32) = transpose xss
entry flat (xss: [][]i32) = flatten xss
entry folded (n: i64) (m: i64) (xs: []i32) : [n][m]i32 = unflatten (sized (n * m) xs)

entry deep (xsss: [2][2][2]i32) =
  (flatten_3d xsss, transpose (map transpose xsss) |> map transpose)
