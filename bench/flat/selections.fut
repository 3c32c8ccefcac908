-- Filters and histograms.
-- ==
-- entry: check_selections
-- input { 1000i64 } output { true }

import "../random"

entry make_i32 (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i))
entry make_keys (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i & 255))

entry filter_half (xs: []i32) : []i32 = filter (>= 0) xs

entry count_256 [n] (keys: [n]i32) : [256]i32 =
  hist (+) 0 256 (map i64.i32 keys) (replicate n 1)

entry check_selections (n: i64) : bool =
  let xs = make_i32 n 1
  let kept = filter_half xs
  let counts = count_256 (make_keys n 1)
  in all (>= 0) kept && length kept == i64.sum (map (\x -> i64.bool (x >= 0)) xs)
     && i64.i32 (i32.sum counts) == n
