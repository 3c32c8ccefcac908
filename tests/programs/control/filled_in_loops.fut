-- Arrays that are filled in loops of as many turns as they have elements: of none, or less, there are none.
-- ==
-- entry: fold
-- input { 3i64 } output { 192 }
-- input { 0i64 } output { 0 }
-- input { -5i64 } output { 0 }

-- ==
-- entry: rows
-- input { [1, 2] 2i64 } output { [14, 15] }
-- input { [1, 2] -9223372036854775807i64 } output { [1, 2] }

entry fold (k: i64) : i32 =
  loop acc = 0 for i < k do
    let ys = loop ys = replicate k 1 for j < 2 do map2 (\y l -> y + ys[(l + 1) % k]) ys (indices ys)
    in acc * 2 + i32.sum ys + i32.i64 i * 20 + 4

entry rows [n] (xs: [n]i32) (k: i64) : [n]i32 =
  loop xs = xs for i < k do
    let ys = map (+ i32.i64 i) (replicate (k - 1) 3 ++ replicate k 1)
    in map (+ i32.sum ys) xs
