-- Calls that do little, and one that does a hundred small things, each of which needs the one before.
-- ==
-- entry: check_calls
-- input { 100i64 } output { true }

import "../random"

entry make_i32 (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i & 15))

entry small_map (xs: []i32) : []i32 = map (+ 7) xs
entry small_sum (xs: []i32) : i32 = i32.sum xs
entry small_scan (xs: []i32) : []i32 = scan (+) 0 xs

entry hundred [n] (xs: [n]i32) : [n]i32 =
  loop xs for _i < 100 do tabulate n (\i -> xs[i] + xs[(i + 1) % n])

entry check_calls (n: i64) : bool =
  let xs = make_i32 n 1
  in last (small_scan xs) == small_sum xs && all (== 0) (hundred (replicate n 0))
