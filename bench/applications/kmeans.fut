-- k-means clustering: distances of all points to all centres, then means by a histogram of vectors.
-- ==
-- entry: kmeans
-- script input { make_kmeans 200i64 3i64 5i64 1i64 } auto output

-- ==
-- entry: check_kmeans
-- input { 300i64 4i64 6i64 1i64 } output { true }

import "../random"

entry make_kmeans (n: i64) (d: i64) (k: i64) (seed: i64) : ([n][d]f32, i64, i64) =
  let cluster i = random_below k seed i
  let points =
    tabulate_2d n d (\i j ->
      random_sign_f32 (seed + 1) (cluster i * d + j) + 0.2 * random_sign_f32 (seed + 2) (i * d + j))
  in (points, k, 5)

def distance [d] (a: [d]f32) (b: [d]f32) : f32 =
  f32.sum (map2 (\x y -> (x - y) * (x - y)) a b)

def nearest [k] [d] (centres: [k][d]f32) (point: [d]f32) : i64 =
  let closer (i, x) (j, y) = if y < x || (y == x && j < i) then (j, y) else (i, x)
  in (reduce_comm closer (k, f32.inf) (zip (iota k) (map (distance point) centres))).0

def means [n] [k] [d] (old: [k][d]f32) (points: [n][d]f32) (labels: [n]i64) : [k][d]f32 =
  let sums = hist (map2 (+)) (replicate d 0) k labels points
  let counts = hist (+) 0i32 k labels (replicate n 1)
  in map3 (\sum count before -> if count == 0 then before else map (/ f32.i32 count) sum)
          sums counts old

entry kmeans [n] [d] (points: [n][d]f32) (k: i64) (rounds: i64) : ([k][d]f32, [n]i64) =
  let first = tabulate_2d k d (\i j -> points[i * n / k, j])
  let centres = loop centres = first for _i < rounds do
                means centres points (map (nearest centres) points)
  in (centres, map (nearest centres) points)

-- No point is nearer to another centre than to its own.
entry check_kmeans (n: i64) (d: i64) (k: i64) (seed: i64) : bool =
  let (points, _, rounds) = make_kmeans n d k seed
  let (centres, labels) = kmeans points k rounds
  in and (map2 (\point label ->
                  let own = distance point centres[label]
                  in all (\centre -> own <= distance point centre) centres)
               points labels)
