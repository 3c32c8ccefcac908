-- Products of a sparse matrix in compressed rows and a vector: a loop per row, and a segmented sum.
-- ==
-- entry: spmv_rows spmv_sums
-- script input { make_spmv 50i64 1i64 } auto output

-- ==
-- entry: check_spmv
-- input { 300i64 1i64 } output { true }

import "../random"

-- | n rows of 1 to 31 elements: where rows begin, columns, values, the vector.
entry make_spmv (n: i64) (seed: i64) : ([]i32, []i32, []f32, [n]f32) =
  let sizes = tabulate (n + 1) (\i -> if i == 0 then 0 else 1 + i32.i64 (random_below 31 seed i))
  let offsets = scan (+) 0 sizes
  let m = i64.i32 offsets[n]
  in ( offsets, tabulate m (\e -> i32.i64 (random_below n (seed + 1) e))
     , tabulate m (random_sign_f32 (seed + 2)), tabulate n (random_sign_f32 (seed + 3)))

entry spmv_rows [n] [m] (offsets: []i32) (columns: [m]i32) (values: [m]f32) (vector: [n]f32) : [n]f32 =
  tabulate n (\i ->
    let from = i64.i32 offsets[i]
    in loop sum = 0 for e < i64.i32 offsets[i + 1] - from do
       sum + values[from + e] * vector[i64.i32 columns[from + e]])

entry spmv_sums [n] [m] (offsets: []i32) (columns: [m]i32) (values: [m]f32) (vector: [n]f32) : [n]f32 =
  let products = map2 (\c v -> v * vector[i64.i32 c]) columns values
  let heads = scatter (replicate m false) (map i64.i32 (take n offsets)) (replicate n true)
  let add (f, a) (g, b) = (f || g, if g then b else a + b)
  let sums = scan add (false, 0) (zip heads products)
  in tabulate n (\i -> sums[i64.i32 offsets[i + 1] - 1].1)

-- Both ways agree.
entry check_spmv (n: i64) (seed: i64) : bool =
  let (offsets, columns, values, vector) = make_spmv n seed
  in and (map2 (\a b -> f32.abs (a - b) < 1e-4)
               (spmv_rows offsets columns values vector) (spmv_sums offsets columns values vector))
