-- Scans of several tiles, whose workgroups wait for each other: of numbers, of maps, of rows.
-- ==
-- entry: sums maps rows
-- input { 0i64 } output { true }
-- input { 5000i64 } output { true }
-- input { 70001i64 } output { true }

entry sums (n: i64) : bool =
  let xs = scan (+) 0 (map i32.i64 (iota n))
  in all (\i -> xs[i] == i32.i64 (i * (i + 1) / 2)) (iota n)

-- x -> a x + b, composed.
entry maps (n: i64) : bool =
  let after (a, b) (c, d) : (i64, i64) = (a * c, b * c + d)
  let ms = scan after (1, 0) (map (\i -> (if i % 1000 == 0 then 2 else 1, i)) (iota n))
  let from i = ms[i].0 * 3 + ms[i].1
  in all (\i -> i == 0 || from i == (if i % 1000 == 0 then 2 else 1) * from (i - 1) + i) (iota n)

entry rows (n: i64) : bool =
  let xs = map (scan (+) 0) (replicate 2 (map i32.i64 (iota n)))
  in all (\i -> xs[0, i] == xs[1, i] && xs[0, i] == i32.i64 (i * (i + 1) / 2)) (iota n)
