-- Parallel work inside sequential loops.
-- ==
-- entry: doubled
-- input { 3 [1, 2] }
-- output { [8, 16] }

-- ==
-- entry: relaxed
-- input { [[0, 5, 100], [5, 0, 20], [100, 20, 0]] }
-- output { [[0, 5, 25], [5, 0, 20], [25, 20, 0]] }

-- ==
-- entry: until_small
-- input { [100.0, 40.0] }
-- output { [0.78125, 0.3125] 7 }

entry doubled (k: i32) (xs: []i32) = loop xs for _i < k do map (* 2) xs

-- All shortest paths.
entry relaxed [n] (d: [n][n]i32) : [n][n]i32 =
  loop d for k < n do
    tabulate_2d n n (\i j -> i32.min d[i, j] (d[i, k] + d[k, j]))

entry until_small [n] (xs: [n]f64) =
  loop (xs, steps) = (xs, 0i32)
  while f64.maximum xs > 1 do
    (map (/ 2) xs, steps + 1)
