-- Matrix products.
-- ==
-- entry: check_products
-- input { 20i64 33i64 } output { true }

import "../random"

entry make_square (n: i64) (seed: i64) : ([n][n]f32, [n][n]f32) =
  (random_matrix n n seed, random_matrix n n (seed + 1))
entry make_vector (n: i64) (seed: i64) : ([n][n]f32, [n]f32) =
  (random_matrix n n seed, tabulate n (random_sign_f32 (seed + 1)))

def times [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a

entry product [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 = times a b
entry product_vector [n] [m] (a: [n][m]f32) (x: [m]f32) : [n]f32 =
  map (\row -> f32.sum (map2 (*) row x)) a

-- A product with the unit matrix, and with a vector as a matrix of one column.
entry check_products (n: i64) (m: i64) : bool =
  let a = random_matrix n m 1
  let unit = tabulate_2d m m (\i j -> f32.bool (i == j))
  let x = tabulate m (random_sign_f32 2)
  let near p q = f32.abs (p - q) < 1e-4
  in and (map2 (==) (flatten a) (flatten (times a unit)))
     && and (map2 (\p q -> near p q[0]) (product_vector a x) (times a (map (\v -> [v]) x)))
