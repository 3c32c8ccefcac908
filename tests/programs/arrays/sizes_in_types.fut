-- Sizes as parameters, expressions and checked promises.
-- ==
-- entry: append_one
-- input { [1, 2] 3 }
-- output { [1, 2, 3] }

-- ==
-- entry: interleave
-- input { [1, 3] [2, 4] }
-- output { [1, 2, 3, 4] }

-- ==
-- entry: outer
-- input { [1, 2] [10, 20, 30] }
-- output { [[10, 20, 30], [20, 40, 60]] 6i64 }

-- ==
-- entry: coerced
-- input { 2i64 [4, 5] }
-- output { [4, 5] }

-- A size that is not written gets a name by a let-binding.
-- ==
-- entry: named
-- input { [4, 5, 6] }
-- output { 3i64 [[4, 5, 6]] }

-- What is asserted of a part of a size is no part of it.
-- ==
-- entry: asserted
-- input { 2i64 3i64 }
-- output { [[0i64, 1i64, 2i64], [3i64, 4i64, 5i64]] }

def push [n] 't (xs: [n]t) (x: t) : [n + 1]t = xs ++ [x]

entry append_one (xs: []i32) (x: i32) = push xs x

entry interleave [n] (xs: [n]i32) (ys: [n]i32) : [n * 2]i32 =
  flatten (map2 (\x y -> [x, y]) xs ys)

def area [n] [m] 't (_: [n][m]t) : i64 = n * m

entry outer (xs: []i32) (ys: []i32) =
  let t = map (\x -> map (\y -> x * y) ys) xs
  in (t, area t)

entry coerced (n: i64) (xs: []i32) : [n]i32 = xs :> [n]i32

entry named (xs: []i32) =
  let [n] (ys: [n]i32) = xs
  in (n, [ys])

entry asserted (n: i64) (m: i64) : [n][m]i64 = unflatten (iota (assert (n > 0) n * m))
