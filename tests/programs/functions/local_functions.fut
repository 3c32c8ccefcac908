-- Functions inside functions, with captured variables and with their own type parameters.
-- ==
-- entry: capture
-- input { 2 [1, 2, 3] }
-- output { [3, 5, 7] }

-- ==
-- entry: generic
-- input { 2 true }
-- output { [2, 2] [true, true] }

-- ==
-- entry: sized
-- input { [1, 2, 3] }
-- output { 6i64 }

-- Numbers share no memory, so that "*" says nothing of them.
-- ==
-- entry: number
-- input { [1, 2, 3] }
-- output { [2, 3, 4] }

entry capture (k: i32) (xs: []i32) =
  let offset = k - 1
  let f x = k * x + offset
  in map f xs

entry generic (x: i32) (y: bool) =
  let both 't (v: t) = [v, v]
  in (both x, both y)

entry sized (xs: []i32) =
  let twice_length [n] 't (_: [n]t) : i64 = 2 * n
  in twice_length xs

entry number (xs: []i32) =
  let next (x: *i32) = x + 1
  in map next xs
