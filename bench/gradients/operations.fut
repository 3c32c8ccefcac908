-- Single operations and their gradients: products of matrices, reductions, scans, histograms.
-- ==
-- entry: matrices matrices_gradient
-- script input { make_matrices 12i64 1i64 } auto output

-- ==
-- entry: sum sum_gradient most most_gradient multiplied multiplied_gradient sums sums_gradient
-- script input { make_numbers 100i64 1i64 } auto output

-- ==
-- entry: counted counted_gradient
-- script input { make_bins 100i64 10i64 1i64 } auto output

import "../random"

def product [n] [m] [k] (a: [n][m]f32) (b: [m][k]f32) : [n][k]f32 =
  map (\x -> map (\y -> f32.sum (map2 (*) x y)) (transpose b)) a

entry make_matrices (n: i64) (seed: i64) : ([n][n]f32, [n][n]f32) =
  (random_matrix n n seed, random_matrix n n (seed + 1))

entry make_numbers (n: i64) (seed: i64) : [n]f32 =
  tabulate n (\i -> 1 + 1e-3 * random_sign_f32 seed i)

entry make_bins (n: i64) (k: i64) (seed: i64) : ([k]f32, [n]i64, [n]f32) =
  (replicate k 0, tabulate n (random_below k seed), make_numbers n (seed + 1))

entry matrices [n] (a: [n][n]f32) (b: [n][n]f32) : [n][n]f32 = product a b

entry matrices_gradient [n] (a: [n][n]f32) (b: [n][n]f32) : ([n][n]f32, [n][n]f32) =
  vjp (\(a, b) -> product a b) (a, b) (map (map (+ 1)) a)

entry sum [n] (xs: [n]f32) : f32 = f32.sum xs
entry sum_gradient [n] (xs: [n]f32) : [n]f32 = vjp f32.sum xs 2

entry most [n] (xs: [n]f32) : f32 = f32.maximum xs
entry most_gradient [n] (xs: [n]f32) : [n]f32 = vjp f32.maximum xs 2

entry multiplied [n] (xs: [n]f32) : f32 = f32.product xs
entry multiplied_gradient [n] (xs: [n]f32) : [n]f32 = vjp f32.product xs 2

entry sums [n] (xs: [n]f32) : [n]f32 = scan (+) 0 xs
entry sums_gradient [n] (xs: [n]f32) : [n]f32 = vjp (scan (+) 0) xs xs

def into [k] [n] (is: [n]i64) (bins: [k]f32) (xs: [n]f32) : [k]f32 =
  reduce_by_index (copy bins) (+) 0 is xs

entry counted [k] [n] (bins: [k]f32) (is: [n]i64) (xs: [n]f32) : [k]f32 = into is bins xs

entry counted_gradient [k] [n] (bins: [k]f32) (is: [n]i64) (xs: [n]f32) : ([k]f32, [n]f32) =
  vjp (\(b, x) -> into is b x) (bins, xs) bins
