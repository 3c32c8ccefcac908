-- Factors of which only the lowest bit may be set, beside divisions. NVIDIA's compiler (580.159)
-- takes such a product for the other factor.

-- ==
-- entry: planes
-- input { 0i64 [[[0, 1], [10, 11]], [[100, 101], [110, 111]]] }
-- output { [[[0, 1], [10, 11]], [[100, 101], [110, 111]], [[0, 1], [10, 11]]] }
-- input { 1i64 [[[5]], [[6]]] }
-- output { [[[6]], [[5]], [[6]]] }
entry planes [m] (n: i64) (a: [2][m][m]i32) : [3][m][m]i32 =
  tabulate_3d 3 m m (\i j k -> a[(i + n) % 2, j, k])

-- ==
-- entry: rows
-- input { 0i64 [7u64, 8u64] }
-- output { [[1u64, 1u64, 1u64], [9u64, 9u64, 9u64]] }
-- input { 3i64 [7u64, 8u64] }
-- output { [[9u64, 9u64, 9u64], [1u64, 1u64, 1u64]] }
entry rows [n] (k: i64) (xs: [n]u64) : [2][3]u64 =
  reduce_by_index (replicate 2 (replicate 3 9)) (map2 u64.min) (replicate 3 u64.highest)
                  (map (\_ -> k % 2) xs) (replicate n (replicate 3 1))

-- ==
-- entry: words
-- input { [4u32, 7u32, 9u32] 3u32 }
-- output { [0i64, 3i64, 3i64] [0u32, 2u32, 3u32] [0u8, 7u8, 9u8] }
entry words (xs: []u32) (d: u32) : ([]i64, []u32, []u8) =
  unzip3 (map (\x -> ( i64.u32 (x & 1) * i64.u32 d
                     , (x - x / 2 * 2) * (x / d)
                     , u8.u32 (x << 31 >> 31) * u8.u32 (x % (d + 10)))) xs)
