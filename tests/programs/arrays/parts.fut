-- Functions that take parts of arrays.
-- ==
-- entry: ends
-- input { [1, 2, 3, 4] }
-- output { 1 4 [2, 3, 4] [1, 2, 3] }

-- ==
-- entry: cut
-- input { 1i64 [1, 2, 3, 4] }
-- output { [1] [2, 3, 4] }
-- input { 0i64 [1] }
-- output { empty([0]i32) [1] }

-- ==
-- entry: sizes
-- input { [1, 2] empty([0]i32) }
-- output { 2i64 false true }

-- ==
-- entry: halves
-- input { [1, 2, 3, 4] }
-- output { [3, 4] [1, 2] }

entry ends (xs: []i32) = (head xs, last xs, tail xs, init xs)
entry cut (i: i64) (xs: []i32) = (take i xs, drop i xs)
entry sizes (xs: []i32) (ys: []i32) = (length xs, null xs, null ys)

entry halves [n] (xs: [n]i32) =
  let (a: [n / 2]i32, b: [n - n / 2]i32) = split (sized (n / 2 + (n - n / 2)) xs)
  in (b, a)
