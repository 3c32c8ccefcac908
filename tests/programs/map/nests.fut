-- Nests of maps run one thread per innermost element, whatever stands around the inner map.
-- ==
-- entry: table
-- input { 3i64 4i64 } output { [[0i64, 1i64, 2i64, 3i64], [10i64, 11i64, 12i64, 13i64], [20i64, 21i64, 22i64, 23i64]] }
-- input { 0i64 4i64 } output { empty([0][4]i64) }
-- input { 3i64 0i64 } output { empty([3][0]i64) }
entry table (n: i64) (m: i64): [n][m]i64 = tabulate_2d n m (\i j -> 10 * i + j)

-- ==
-- entry: cube
-- input { 9i64 10i64 11i64 } output { 1334704i64 }
-- input { 9i64 0i64 11i64 } output { 0i64 }
entry cube (n: i64) (m: i64) (k: i64): i64 =
  let xsss = tabulate_3d n m k (\a b c -> 100 * a + 10 * b + c)
  in i64.sum (map2 (\i x -> (i + 1) % 7 * x) (indices (flatten (flatten xsss))) (flatten (flatten xsss)))

-- More elements in a row than one thread may take turns on some drivers.
-- ==
-- entry: long_rows
-- input { 3i64 100000i64 } output { 450002i64 }
entry long_rows (n: i64) (m: i64): i64 =
  let xss = map (\i -> map (\j -> i + j) (iota m)) (iota n)
  in xss[n - 1][m - 1] + xss[0][m - 1] + xss[1][m - 1] + xss[2][m - 1] + xss[1][m / 2]

-- A row's own result, made by a loop, beside the rows of the inner map that uses it.
-- ==
-- entry: beside
-- input { [1, 5, 7] [10, 20, 30, 40, 50, 60, 70, 80, 90] }
-- output { [0, 4, 6] [[10, 20, 30, 40, 50, 60, 70, 80, 90], [14, 24, 34, 44, 54, 64, 74, 84, 94], [16, 26, 36, 46, 56, 66, 76, 86, 96]] }
entry beside [n] [m] (xs: [n]i32) (ys: [m]i32): ([n]i32, [n][m]i32) =
  unzip (map (\x -> let s = loop s = 0 while s + 1 < x do s + 1
                    in (s, map (+ s) ys)) xs)

-- A check of a row is made also where rows have no elements, and is not where there are no rows.
-- ==
-- entry: checked
-- input { [1, 2] [10, 20, 30, 40, 50, 60, 70, 80, 90] }
-- output { [[110, 120, 130, 140, 150, 160, 170, 180, 190], [60, 70, 80, 90, 100, 110, 120, 130, 140]] }
-- input { [1, 0] [10, 20] } error: division by zero
-- input { [1, 0] empty([0]i32) } error: division by zero
-- input { empty([0]i32) [10, 20] } output { empty([0][2]i32) }
entry checked [n] [m] (xs: [n]i32) (ys: [m]i32): [n][m]i32 =
  map (\x -> let a = 100 / x in map (\y -> a + y) ys) xs

-- Rows of other arrays, by element and whole, and a view of the row.
-- ==
-- entry: rows
-- input { [[1, 2, 3, 4, 5, 6, 7, 8, 9], [11, 12, 13, 14, 15, 16, 17, 18, 19]] }
-- output { [[10, 10, 10, 10, 10, 10, 10, 10, 10], [30, 30, 30, 30, 30, 30, 30, 30, 30]] }
entry rows [n] [m] (xss: [n][m]i32): [n][m]i32 =
  map (\xs -> map2 (+) xs (reverse xs)) xss

-- The inner map's own loop and array.
-- ==
-- entry: inner_arrays
-- input { 2i64 9i64 } output { [[0i64, 1i64, 3i64, 6i64, 10i64, 15i64, 21i64, 28i64, 36i64], [1i64, 3i64, 6i64, 10i64, 15i64, 21i64, 28i64, 36i64, 45i64]] }
entry inner_arrays (n: i64) (m: i64): [n][m]i64 =
  map (\i -> map (\j -> i64.sum (scan (+) 0 (replicate (i + j) 1))) (iota m)) (iota n)
