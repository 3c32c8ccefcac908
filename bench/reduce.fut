-- Reductions of different operators and shapes.
-- ==
-- entry: sum largest mean_and_variance
-- random input { [1000]f32 } auto output
-- random input { [1000000]f32 }
-- random input { [67108864]f32 }

-- ==
-- entry: row_sums
-- random input { [1000][1000]f32 } auto output
-- random input { [1000000][64]f32 }
-- random input { [64][1000000]f32 }

entry sum (xs: []f32) : f32 = f32.sum xs

entry largest [n] (xs: [n]f32) : (f32, i64) =
  let bigger (a, i) (b, j) =
    if a > b || (a == b && i < j) then (a, i) else (b, j)
  in reduce_comm bigger (-f32.inf, n) (zip xs (iota n))

entry mean_and_variance [n] (xs: [n]f32) : (f32, f32) =
  let (s, q) = reduce_comm (\(a, b) (c, d) -> (a + c, b + d)) (0, 0) (map (\x -> (x, x * x)) xs)
  let mean = s / f32.i64 n
  in (mean, q / f32.i64 n - mean * mean)

entry row_sums (xss: [][]f32) : []f32 = map f32.sum xss
