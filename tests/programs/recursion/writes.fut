-- Functions that call themselves, in operators of histograms and in what they and scatters write.
-- ==
-- entry: bins
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [3i64, 5i64] }

-- ==
-- entry: made
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [21i64, 138i64, 0i64] }

-- ==
-- entry: rows
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [[4i64, 17i64], [1i64, 2i64], [2i64, 5i64]] }

-- ==
-- entry: pairs
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [4i64, 1i64, 2i64] [17f64, 2f64, 5f64] }

-- ==
-- entry: places
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [3i64, 0i64, 0i64, 9i64, 0i64, 0i64] }

-- ==
-- entry: planes
-- input { [1i64, 2i64, 3i64, 4i64, 7i64, 0i64] } output { [[0i64, 1i64], [2i64, 3i64]] }

-- ==
-- entry: in_a_map
-- input { [1i64, 2i64, 3i64] } output { [[3i64, 5i64], [4i64, 6i64], [5i64, 7i64]] }

def power (b: i64) (e: i64) : i64 = if e == 0 then 1 else b * power b (e - 1)

entry bins [n] (xs: [n]i64) =
  let place x = x % 3 - (if x == 7 then 5 else 0)
  in reduce_by_index (replicate 2 0) (\a b -> a + power b 1) 0 (map place xs) xs

entry made [n] (xs: [n]i64) =
  reduce_by_index (replicate 3 0i64) (+) 0 (map (\x -> power x 2 % 4) xs) (map (power 2) xs)

entry rows [n] (xs: [n]i64) =
  reduce_by_index (replicate 3 [0i64, 1]) (map2 (\a b -> a * power 1 2 + b)) [0, 0] (map (% 4) xs)
                  (map (\x -> [x, power x 2]) xs)

entry pairs [n] (xs: [n]i64) =
  unzip (reduce_by_index (replicate 3 (0i64, 1f64)) (\(a, b) (c, d) -> (power a 1 + c, b + d)) (0, 0)
                         (map (% 4) xs) (map (\x -> (x, f64.i64 (power x 2))) xs))

entry places [n] (xs: [n]i64) =
  scatter (replicate 6 0i64) (map (\x -> power x 2 - 1) xs) (map (power 3) xs)

entry planes [n] (xs: [n]i64) =
  reduce_by_index_2d (replicate 2 (replicate 2 0i64)) (\a b -> a + power b 1) 0
                     (map (\x -> (x / 2, x % 2)) xs) xs

entry in_a_map [n] (xs: [n]i64) =
  map (\k -> reduce_by_index (replicate 2 k) (\a b -> a + power b 1) 0 (map (% 2) xs) xs) xs
