-- Cholesky factors of many small matrices, and LU factors of a large one.
-- ==
-- entry: cholesky
-- script input { make_cholesky 5i64 6i64 1i64 } auto output

-- ==
-- entry: lu
-- script input { make_lu 12i64 1i64 } auto output

-- ==
-- entry: check_cholesky check_lu
-- input { 9i64 1i64 } output { true }

import "../random"

-- | Symmetric, with a heavy diagonal.
entry make_cholesky (n: i64) (d: i64) (seed: i64) : [n][d][d]f32 =
  tabulate_3d n d d (\b i j ->
    let noise = random_sign_f32 seed ((b * d + i64.min i j) * d + i64.max i j)
    in if i == j then f32.i64 d + 1 + noise else noise)

def cholesky_factor [d] (a: [d][d]f32) : [d][d]f32 =
  let under =
    loop a for k < d do
      let pivot = a[k, k]
      in tabulate_2d d d (\i j ->
           if j == k && i >= k then a[i, k] / f32.sqrt pivot
           else if j > k && i > k then a[i, j] - a[i, k] * a[j, k] / pivot
           else a[i, j])
  in tabulate_2d d d (\i j -> if j > i then 0 else under[i, j])

entry cholesky [n] [d] (matrices: [n][d][d]f32) : [n][d][d]f32 =
  map cholesky_factor matrices

entry make_lu (n: i64) (seed: i64) : [n][n]f32 =
  tabulate_2d n n (\i j -> random_sign_f32 seed (i * n + j) + if i == j then f32.i64 n else 0)

-- | Both factors in one matrix, without pivots.
def lu_factors [n] (a: [n][n]f32) : [n][n]f32 =
  loop a for k < n do
    let row = a[k]
    let below i r =
      let factor = if i > k then r[k] / row[k] else 0
      in map3 (\j x y -> if i <= k || j < k then x else if j == k then factor else x - factor * y)
              (iota n) r row
    in map2 below (iota n) a

entry lu [n] (a: [n][n]f32) : [n][n]f32 = lu_factors a

def product [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a

def same [n] [m] (a: [n][m]f32) (b: [n][m]f32) : bool =
  all (\(x, y) -> f32.abs (x - y) < 0.001) (zip (flatten a) (flatten b))

entry check_cholesky (n: i64) (seed: i64) : bool =
  let matrices = make_cholesky n n seed
  in and (map2 (\a l -> same a (product l (transpose l))) matrices (map cholesky_factor matrices))

entry check_lu (n: i64) (seed: i64) : bool =
  let a = make_lu n seed
  let both = lu_factors a
  let lower = tabulate_2d n n (\i j -> if i == j then 1 else if j < i then both[i, j] else 0)
  let upper = tabulate_2d n n (\i j -> if j >= i then both[i, j] else 0)
  in same a (product lower upper)
