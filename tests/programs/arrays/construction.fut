-- Functions that make arrays.
-- ==
-- entry: makers
-- input { 3i64 }
-- output { [0i64, 1i64, 2i64] [7, 7, 7] [0i64, 1i64, 4i64] }

-- ==
-- entry: tables
-- input { 2i64 3i64 }
-- output { [[0i64, 1i64, 2i64], [10i64, 11i64, 12i64]] }

-- ==
-- entry: cube
-- input { 2i64 }
-- output { [[[0i64, 1i64], [10i64, 11i64]], [[100i64, 101i64], [110i64, 111i64]]] }

-- ==
-- entry: rows
-- input { 2i64 [1, 2, 3] }
-- output { [[1, 2, 3], [1, 2, 3]] }

-- ==
-- entry: as_asked
-- input { [1, 2, 3] }
-- output { [4, 5, 6] }

entry makers (n: i64) = (iota n, replicate n 7i32, tabulate n (\i -> i * i))
entry tables (n: i64) (m: i64) = tabulate_2d n m (\i j -> 10 * i + j)
entry cube (n: i64) = tabulate_3d n n n (\i j k -> 100 * i + 10 * j + k)
entry rows (n: i64) (xs: []i32) = replicate n xs
entry as_asked [n] (xs: [n]i32) = map2 (+) xs (rep 3)
