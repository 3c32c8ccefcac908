-- Work of one thread that is longer than some drivers let a thread run: llvmpipe ends all loops of
-- a thread after 65,535 turns.

-- ==
-- entry: bins
-- input { 200000i64 } output { [50000i64, 50000, 50000, 50000] }
-- input { 32768i64 } output { [8192i64, 8192, 8192, 8192] }
-- input { 32769i64 } output { [8193i64, 8192, 8192, 8192] }
-- input { 0i64 } output { [0i64, 0, 0, 0] }
entry bins (n: i64): [4]i64 = hist (+) 0 4 (map (% 4) (iota n)) (replicate n 1)

-- A histogram that goes on with bins that are there, of pairs.
-- ==
-- entry: bins_of_pairs
-- input { [100i64, 200] 70000i64 } output { [2449965100i64, 200] [70000i32, 7] }
entry bins_of_pairs (sums: *[2]i64) (n: i64): ([2]i64, [2]i32) =
  let add (a: i64, c: i32) (b: i64, d: i32) = (a + b, i32.max c d)
  in unzip (reduce_by_index (zip sums [5, 7]) add (0, i32.lowest) (replicate n 0)
                            (map (\i -> (i, i32.i64 i + 1)) (iota n)))

-- ==
-- entry: column_sums
-- input { 50000i64 } output { [1249975000i64, 1250025000, 1250075000] }
-- input { 0i64 } output { [0i64, 0, 0] }
entry column_sums (n: i64): [3]i64 =
  reduce (map2 (+)) [0, 0, 0] (tabulate_2d n 3 (+))

-- ==
-- entry: in_place
-- input { 100000i64 } output { 4999950000i64 99999i64 }
-- input { 1i64 } output { 0i64 0i64 }
entry in_place (n: i64): (i64, i64) =
  let xs = loop xs = iota n for i < n - 1 do xs with [i + 1] = xs[i] + xs[i + 1]
  in (xs[n - 1], n - 1)

-- ==
-- entry: carried
-- input { [3i32, 1, 2] 100001i64 } output { 200002i32 1i32 }
entry carried (xs: []i32) (n: i64): (i32, i32) =
  loop (s, last) = (0, -1) for i < n do (s + xs[i % 3], xs[i % 3] - 1 + i32.bool (i == n - 1))
