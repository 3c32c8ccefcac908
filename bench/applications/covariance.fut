-- The covariance matrix of n samples of d variables.
-- ==
-- entry: covariance
-- script input { make_covariance 30i64 7i64 1i64 } auto output

-- ==
-- entry: check_covariance
-- input { 100i64 9i64 1i64 } output { true }

import "../random"

entry make_covariance (n: i64) (d: i64) (seed: i64) : [n][d]f32 =
  tabulate_2d n d (\i j -> random_f32 seed (i * d + j) + random_f32 (seed + 1) i)

entry covariance [n] [d] (samples: [n][d]f32) : [d][d]f32 =
  let columns = transpose samples
  let centred = map (\xs -> let mean = f32.sum xs / f32.i64 n in map (\x -> x - mean) xs) columns
  in map (\a -> map (\b -> f32.sum (map2 (*) a b) / f32.i64 (n - 1)) centred) centred

-- It is symmetric, and no covariance is above the root of its variances' product.
entry check_covariance (n: i64) (d: i64) (seed: i64) : bool =
  let c = covariance (make_covariance n d seed)
  in and (flatten (tabulate_2d d d (\i j ->
       f32.abs (c[i, j] - c[j, i]) < 1e-4 && c[i, j] * c[i, j] <= c[i, i] * c[j, j] * 1.001)))
