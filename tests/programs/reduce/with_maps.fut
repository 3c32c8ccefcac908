-- Reductions of what maps compute, several at once, and values used after them.
-- ==
-- entry: dot
-- input { [1, 2, 3] [4, 5, 6] }
-- output { 32 }

-- ==
-- entry: together
-- input { [1, 2, 3, 4] }
-- output { 10 30 [1, 4, 9, 16] }

-- ==
-- entry: dependent
-- input { [2.0, 4.0, 6.0] }
-- output { [-2.0, 0.0, 2.0] 8.0 }

-- ==
-- entry: counts
-- input { [5, -1, 7, -3] }
-- output { 2i64 true false }

-- ==
-- entry: folds
-- input { [1, 2, 3] }
-- output { 123 321 }

entry dot [n] (xs: [n]i32) (ys: [n]i32) = i32.sum (map2 (*) xs ys)

entry together (xs: []i32) =
  let squares = map (\x -> x * x) xs
  in (i32.sum xs, i32.sum squares, squares)

entry dependent [n] (xs: [n]f64) =
  let mean = f64.sum xs / f64.i64 n
  let centred = map (\x -> x - mean) xs
  in (centred, f64.sum (map (\x -> x * x) centred))

entry counts (xs: []i32) =
  (i64.sum (map (\x -> i64.bool (x < 0)) xs), any (> 6) xs, all (> 6) xs)

entry folds (xs: []i32) = (foldl (\a x -> 10 * a + x) 0 xs, foldr (\x a -> 10 * a + x) 0 xs)
