-- map inside map.
-- ==
-- entry: add
-- input { [[1, 2], [3, 4]] 10 }
-- output { [[11, 12], [13, 14]] }
-- input { empty([0][2]i32) 1 }
-- output { empty([0][2]i32) }

-- ==
-- entry: products
-- input { [1, 2] [3, 4, 5] }
-- output { [[3, 4, 5], [6, 8, 10]] }

-- ==
-- entry: three
-- input { 2i64 }
-- output { [[[0i64, 1i64], [1i64, 2i64]], [[1i64, 2i64], [2i64, 3i64]]] }

-- ==
-- entry: rows
-- input { [[1, 2], [3, 4]] }
-- output { [[2, 1], [4, 3]] [1, 3] }

-- ==
-- entry: in_between
-- input { [1, 2] [[1, 2], [3, 4]] }
-- output { [[2, 4], [12, 16]] }

entry add (xss: [][]i32) (k: i32) = map (map (+ k)) xss
entry products (xs: []i32) (ys: []i32) = map (\x -> map (* x) ys) xs
entry three (n: i64) = map (\i -> map (\j -> map (\k -> i + j + k) (iota n)) (iota n)) (iota n)
entry rows (xss: [][2]i32) = (map reverse xss, map head xss)

entry in_between [n] [m] (xs: [n]i32) (yss: [n][m]i32) =
  map2 (\x ys -> let k = x * 2 in map (\y -> k * y) ys) xs yss
