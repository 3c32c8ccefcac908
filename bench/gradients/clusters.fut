-- The cost of k centres for n points (the sum of squared distances to the nearest), its gradient, and the
-- diagonal of its Hessian, which a step of Newton's method needs.
-- ==
-- entry: cost gradient gradient_and_diagonal
-- script input { make_clusters 50i64 4i64 3i64 1i64 } auto output

-- ==
-- entry: check_clusters
-- input { 50i64 4i64 3i64 1i64 } output { true }

import "../random"

def total [n] [k] [d] (points: [n][d]f32) (centres: [k][d]f32) : f32 =
  let distance x c = f32.sum (map2 (\a b -> (a - b) * (a - b)) x c)
  in f32.sum (map (\x -> f32.minimum (map (distance x) centres)) points)

entry make_clusters (n: i64) (d: i64) (k: i64) (seed: i64) : ([n][d]f32, [k][d]f32) =
  (random_matrix n d seed, random_matrix k d (seed + 1))

entry cost [n] [k] [d] (points: [n][d]f32) (centres: [k][d]f32) : f32 = total points centres

entry gradient [n] [k] [d] (points: [n][d]f32) (centres: [k][d]f32) : [k][d]f32 =
  vjp (total points) centres 1

entry gradient_and_diagonal [n] [k] [d] (points: [n][d]f32) (centres: [k][d]f32) : ([k][d]f32, [k][d]f32) =
  jvp2 (\c -> vjp (total points) c 1) centres (replicate k (replicate d 1))

-- A centre's gradient is twice the sum of its differences from its points; its second derivative is twice
-- their number.
entry check_clusters (n: i64) (d: i64) (k: i64) (seed: i64) : bool =
  let (points, centres) = make_clusters n d k seed
  let nearest x =
    let distances = map (\c -> f32.sum (map2 (\a b -> (a - b) * (a - b)) x c)) centres
    in loop best = 0 for i < k do if distances[i] < distances[best] then i else best
  let of_points = map nearest points
  let (g, h) = gradient_and_diagonal points centres
  let expected c j = f32.sum (map2 (\x o -> if o == c then 2 * (centres[c, j] - x[j]) else 0) points of_points)
  let members c = f32.i64 (2 * i64.sum (map (\o -> i64.bool (o == c)) of_points))
  in and (flatten (tabulate_2d k d (\c j -> f32.abs (g[c, j] - expected c j) < 1e-3 && h[c, j] == members c)))
