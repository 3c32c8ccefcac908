-- Scans together with maps and reductions.
-- ==
-- entry: positions
-- input { [true, false, true, true] }
-- output { [0i64, 1i64, 1i64, 2i64] 3i64 }

-- ==
-- entry: of_map
-- input { [1, 2, 3] }
-- output { [1, 5, 14] }

-- ==
-- entry: differences
-- input { [1, 4, 9, 16] }
-- output { [1, 4, 9, 16] }

entry positions (keep: []bool) =
  let ones = map i64.bool keep
  in (exscan (+) 0 ones, i64.sum ones)

entry of_map (xs: []i32) = scan (+) 0 (map (\x -> x * x) xs)

entry differences [n] (xs: [n]i32) =
  scan (+) 0 (map (\i -> if i == 0 then xs[0] else xs[i] - xs[i - 1]) (iota n))
