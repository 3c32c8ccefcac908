-- map over one and more arrays.
-- ==
-- entry: one
-- input { [1, 2, 3] }
-- output { [3, 5, 7] }

-- ==
-- entry: more
-- input { [1, 2] [3, 4] [5, 6] }
-- output { [4, 6] [16, 26] }

-- ==
-- entry: free
-- input { 10 [1, 2] [[1, 2], [3, 4]] }
-- output { [22, 35] }

-- ==
-- entry: types
-- input { [1, 2, 3] }
-- output { [0.5f32, 1.0f32, 1.5f32] [true, false, true] [1u8, 2u8, 3u8] }

-- ==
-- entry: long
-- input { 100000i64 }
-- output { 100000i64 99999i64 9999800001i64 }

entry one (xs: []i32) = map (\x -> 2 * x + 1) xs

entry more [n] (xs: [n]i32) (ys: [n]i32) (zs: [n]i32) =
  (map2 (+) xs ys, map3 (\x y z -> x + y * z) xs ys zs)

entry free (k: i32) (is: []i32) (xss: [][]i32) =
  map (\i -> k * (i + 1) + xss[i - 1, 0] + i) is

entry types (xs: []i32) = (map (\x -> f32.i32 x / 2) xs, map (\x -> x % 2 == 1) xs, map u8.i32 xs)

entry long (n: i64) =
  let ys = map (\i -> i * i) (iota n)
  in (length ys, ys[n - 1] - ys[n - 2] - (n - 1) + 1, ys[n - 1])
