-- Scans of tuples: segmented sums, and a scan whose operator is not commutative.
-- ==
-- entry: segmented
-- input { [true, false, false, true, false] [1, 2, 3, 4, 5] }
-- output { [1, 3, 6, 4, 9] }

-- ==
-- entry: affine
-- input { [2, 3, 4] [1, 0, 5] }
-- output { [1, 3, 17] }

-- ==
-- entry: matrices
-- input { 6i64 }
-- output { [1, 1, 2, 3, 5, 8] }

entry segmented [n] (starts: [n]bool) (xs: [n]i32) =
  let op (f1, a) (f2, b) = (f1 || f2, if f2 then b else a + b)
  in (unzip (scan op (false, 0) (zip starts xs))).1

entry affine [n] (as: [n]i32) (bs: [n]i32) =
  let after (a1, b1) (a2, b2) = (a1 * a2, b1 * a2 + b2)
  in map (.1) (scan after (1, 0) (zip as bs))

-- Fibonacci numbers out of powers of a matrix.
entry matrices (n: i64) : []i32 =
  let mul (a, b, c, d) (e, f, g, h) = (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
  in map (.1) (scan mul (1, 0, 0, 1) (replicate n (1, 1, 1, 0)))
