-- Arrays that become parts of others: made in their place, whether or not that begins where a device
-- stores best. (Sizes are such that parts begin at odd places.)
-- ==
-- entry: ends
-- input { [1u8, 2u8, 3u8, 4u8, 5u8] }
-- output { [2u8, 3u8, 4u8, 5u8, 6u8, 2u8, 4u8, 6u8, 8u8, 10u8, 1u8, 2u8, 3u8, 4u8, 5u8] }
-- input { empty([0]u8) }
-- output { empty([0]u8) }

-- ==
-- entry: many
-- input { 0i64 } output { true }
-- input { 1i64 } output { true }
-- input { 4i64 } output { true }
-- input { 129i64 } output { true }
-- input { 4096i64 } output { true }
-- input { 40001i64 } output { true }

-- ==
-- entry: exclusive
-- input { [3, 4, 5] }
-- output { [0, 3, 7, 12] }

-- ==
-- entry: rows
-- input { [1f32, 2f32, 3f32] }
-- output { [[2f32, 3f32, 4f32], [1f32, 2f32, 3f32], [2f32, 4f32, 6f32]] }

-- ==
-- entry: triangle
-- input { 3i64 5i64 }
-- output { [[0, 0, 0, 0, 0], [0, 1, 2, 3, 4], [0, 2, 4, 6, 8]] }
-- input { 4i64 4i64 }
-- output { [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6], [0, 3, 6, 9]] }

-- ==
-- entry: running
-- input { [[1, 2, 3], [4, 5, 6], [7, 8, 9]] }
-- output { [[1, 2, 3], [5, 7, 9], [12, 15, 18]] }

-- ==
-- entry: window
-- input { [0, 0, 0, 0, 0, 0, 0] 2i64 [5, 6, 7] }
-- output { [0, 0, 10, 12, 14, 0, 0] }
-- input { [0, 0, 0, 0, 0, 0, 0] 5i64 [5, 6, 7] }
-- error: Index

-- ==
-- entry: either
-- input { true [1, 2, 3] } output { [2, 4, 6, 1, 2, 3] }
-- input { false [1, 2, 3] } output { [1, 2, 3, 0, 1, 2] }

entry ends (xs: []u8) = map (+ 1) xs ++ map (* 2) xs ++ xs

-- Four parts of different lengths, and of two types.
entry many (n: i64): bool =
  let (as, bs) = unzip (tabulate n (\i -> (i32.i64 i, u16.i64 (i % 1000))))
  let (cs, ds) = unzip (tabulate (n + 1) (\i -> (i32.i64 (2 * i), u16.i64 (i % 900))))
  let es = as ++ cs ++ tabulate 3 (\i -> i32.i64 (7 * i))
  let fs = bs ++ ds
  in and (map2 (\e i -> e == i32.i64 (if i < n then i
                                      else if i < 2 * n + 1 then 2 * (i - n)
                                      else 7 * (i - 2 * n - 1)))
               es (indices es))
     && and (map2 (\f i -> f == u16.i64 (if i < n then i % 1000 else (i - n) % 900))
                  fs (indices fs))

entry exclusive (xs: []i32) = [0] ++ scan (+) 0 xs

entry rows [n] (xs: [n]f32) = [map (+ 1) xs, xs, map (* 2) xs]

entry triangle (n: i64) (m: i64): [n][m]i32 =
  loop xss = replicate n (replicate m 0) for i < n do
    xss with [i] = tabulate m (\j -> i32.i64 (i * j))

-- Each row is made of the one above it, in the same array.
entry running [n][m] (xss: *[n][m]i32) =
  loop xss for i < n - 1 do
    xss with [i + 1] = map2 (+) xss[i] xss[i + 1]

entry window [n][m] (xs: *[n]i32) (at: i64) (ys: [m]i32) =
  xs with [at:at + m] = map (* 2) ys

entry either (b: bool) (xs: []i32) =
  if b then map (* 2) xs ++ xs else xs ++ map (+ -1) xs
