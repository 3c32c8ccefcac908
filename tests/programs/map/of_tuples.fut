-- Functions with tuples and records going in and coming out.
-- ==
-- entry: out
-- input { [1, 2] }
-- output { [1, 2] [1.0f32, 4.0f32] }

-- ==
-- entry: through
-- input { [1, 2, 3] [10, 20, 30] }
-- output { [11, 22, 33] [-9, -18, -27] }

-- ==
-- entry: flags
-- input { [1, -2, 3] }
-- output { [true, false, true] }

entry out (xs: []i32) = unzip (map (\x -> (x, f32.i32 (x * x))) xs)

entry through [n] (xs: [n]i32) (ys: [n]i32) =
  let rs = map2 (\x y -> {sum = x + y, diff = x - y}) xs ys
  in (map (\r -> r.sum) rs, map (\{sum = _, diff} -> diff) rs)

entry flags (xs: []i32) = map (\x -> (x, x > 0)) xs |> map (.1)
