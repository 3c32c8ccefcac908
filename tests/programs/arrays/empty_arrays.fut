-- Arrays without elements keep their inner sizes.
-- ==
-- entry: same
-- input { empty([0][3]i32) }
-- output { empty([0][3]i32) 3i64 }
-- input { empty([2][0]i32) }
-- output { empty([2][0]i32) 0i64 }

-- ==
-- entry: turned
-- input { empty([0][3]i32) }
-- output { empty([3][0]i32) }

-- ==
-- entry: results
-- input { empty([0]i32) }
-- output { 0 empty([0]i32) empty([0]i32) }

-- ==
-- entry: made
-- input { 0i64 4i64 }
-- output { empty([0][4]i64) }

entry same [n] [m] (xss: [n][m]i32) = (xss, m)
entry turned (xss: [][]i32) = transpose xss
entry results (xs: []i32) = (reduce (+) 0 xs, scan (+) 0 xs, map (+ 1) xs)
entry made (n: i64) (m: i64) = tabulate_2d n m (\i j -> i + j)

-- Rows of a negative size, of which there are none.
-- ==
-- entry: no_rows
-- input { empty([0]i64) -1i64 } output { empty([0][0]i64) }
-- input { [1i64, 1i64] 2i64 } output { [[0i64, 1i64], [0i64, 1i64]] }
entry no_rows (xs: []i64) (k: i64) = map (\_ -> iota k) xs

-- ==
-- entry: no_pairs
-- input { empty([0]i64) -7i64 } output { empty([0][0]i32) empty([0]i8) }
entry no_pairs (xs: []i64) (k: i64) = unzip (map (\_ -> (replicate k 1i32, 2i8)) xs)

-- ==
-- entry: lengths_of_no_rows
-- input { empty([0]i64) -1i64 } output { 0i64 0i64 }
entry lengths_of_no_rows (xs: []i64) (k: i64) =
  let yss = map (\_ -> iota k) xs
  in (length yss, length (flatten yss))
