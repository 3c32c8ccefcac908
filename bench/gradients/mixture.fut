-- A Gaussian mixture: the logarithm of its likelihood for n points in d dimensions, and the gradient of that
-- with regard to all its parameters. A component's inverse covariance is Q^T Q; Q is lower triangular with
-- exponentials on its diagonal.
-- ==
-- entry: likelihood gradient
-- script input { make_mixture 20i64 3i64 4i64 1i64 } auto output

-- ==
-- entry: check_mixture
-- input { 20i64 3i64 4i64 1i64 } output { true }

import "../random"

type mixture [k] [d] [t] = {weights: [k]f64, means: [k][d]f64, diagonals: [k][d]f64, triangles: [k][t]f64}

def random_f64 (seed: i64) (i: i64) : f64 = f64.f32 (random_sign_f32 seed i)

def random_mixture (k: i64) (d: i64) (seed: i64) : mixture [k] [d] [d * (d - 1) / 2] =
  let table m s = tabulate_2d k m (\i j -> random_f64 (seed + s) (i * m + j))
  in { weights = tabulate k (random_f64 seed)
     , means = table d 1
     , diagonals = table d 2
     , triangles = map (map (0.1 *)) (table (d * (d - 1) / 2) 3) }

def maximum_and_sum [n] (xs: [n]f64) : f64 =
  let most = f64.maximum xs
  in most + f64.log (f64.sum (map (\x -> f64.exp (x - most)) xs))

-- | |Q v|^2
def stretched [d] [t] (diagonal: [d]f64) (triangle: [t]f64) (v: [d]f64) : f64 =
  f64.sum (tabulate d (\i ->
    let start = i * (i - 1) / 2
    let below = loop s = 0 for j < i do s + triangle[start + j] * v[j]
    let q = f64.exp diagonal[i] * v[i] + below
    in q * q))

def log_likelihood [n] [k] [d] [t] (m: mixture [k] [d] [t]) (points: [n][d]f64) : f64 =
  let sums = map f64.sum m.diagonals
  let of_point x =
    maximum_and_sum (map5 (\w s mean diagonal triangle ->
        w + s - 0.5 * stretched diagonal triangle (map2 (-) x mean))
      m.weights sums m.means m.diagonals m.triangles)
  in f64.sum (map of_point points) - f64.i64 n * maximum_and_sum m.weights

entry make_mixture (n: i64) (d: i64) (k: i64) (seed: i64)
    : ([k]f64, [k][d]f64, [k][d]f64, [k][d * (d - 1) / 2]f64, [n][d]f64) =
  let m = random_mixture k d seed
  in (m.weights, m.means, m.diagonals, m.triangles,
      tabulate_2d n d (\i j -> random_f64 (seed + 9) (i * d + j)))

entry likelihood [n] [k] [d] [t] (weights: [k]f64) (means: [k][d]f64) (diagonals: [k][d]f64)
    (triangles: [k][t]f64) (points: [n][d]f64) : f64 =
  log_likelihood {weights, means, diagonals, triangles} points

entry gradient [n] [k] [d] [t] (weights: [k]f64) (means: [k][d]f64) (diagonals: [k][d]f64)
    (triangles: [k][t]f64) (points: [n][d]f64) : ([k]f64, [k][d]f64, [k][d]f64, [k][t]f64) =
  let g = vjp (\m -> log_likelihood m points) {weights, means, diagonals, triangles} 1
  in (g.weights, g.means, g.diagonals, g.triangles)

-- A step along the gradient changes the likelihood by the step and the gradient's square.
entry check_mixture (n: i64) (d: i64) (k: i64) (seed: i64) : bool =
  let (weights, means, diagonals, triangles, points) = make_mixture n d k seed
  let (w, m, q, t) = gradient weights means diagonals triangles points
  let square = f64.sum (map (** 2) (w ++ flatten m ++ flatten q ++ flatten t))
  let at (h: f64) =
    let step [m] (xs: [m]f64) (gs: [m]f64) = map2 (\x g -> x + h * g) xs gs
    in log_likelihood { weights = step weights w, means = map2 step means m
                      , diagonals = map2 step diagonals q, triangles = map2 step triangles t } points
  let h = 1e-6
  let slope = (at h - at (-h)) / (2 * h)
  in f64.abs (slope - square) < 1e-5 * square
