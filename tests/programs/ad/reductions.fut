-- Gradients of reductions and histograms by maximum, minimum and product, where rules could differ from
-- that of any operator.

-- Of equals, the one that the operator takes: the first, and with its operands exchanged the last.
-- ==
-- entry: equals
-- input { [1f32, 3f32, 2f32, 3f32] }
-- output { [0f32, 2f32, 0f32, 0f32] [2f32, 0f32, 0f32, 0f32] [0f32, 0f32, 0f32, 2f32] }
-- input { empty([0]f32) } output { empty([0]f32) empty([0]f32) empty([0]f32) }
entry equals [n] (xs: [n]f32) : ([n]f32, [n]f32, [n]f32) =
  ( vjp f32.maximum xs 2
  , vjp f32.minimum xs 2
  , vjp (reduce (\a b -> f32.max b a) f32.lowest) xs 2
  )

-- A neutral element that is one stands before all others.
-- ==
-- entry: above
-- input { [-1i32, 0i32, -2i32] } output { [0i32, 0i32, 0i32] }
-- input { [-1i32, 0i32, 5i32] } output { [0i32, 0i32, 7i32] }
entry above [n] (xs: [n]i32) : [n]i32 = vjp (reduce i32.max 0) xs 7

-- ==
-- entry: without_numbers
-- input { [f32.nan, 2f32, f32.nan] } output { [0f32, 1f32, 0f32] }
-- input { [f32.nan, f32.nan] } output { [0f32, 0f32] }
entry without_numbers [n] (xs: [n]f32) : [n]f32 = vjp f32.maximum xs 1

-- What is no number is neutral as well.
-- ==
-- entry: number_or_none
-- input { f64.nan [3f64, 1f64, 2f64] } output { [0f64, 1f64, 0f64] [1f64, 0f64, 0f64] }
-- input { f64.nan [3f64, f64.nan, 2f64] } output { [0f64, 0f64, 1f64] [1f64, 0f64, 0f64] }
-- input { f64.nan [f64.nan, f64.nan] } output { [0f64, 0f64] [0f64, 0f64] }
-- input { f64.nan [f64.inf, f64.inf] } output { [1f64, 0f64] [1f64, 0f64] }
-- input { 2.5f64 [3f64, 1f64, 2f64] } output { [0f64, 1f64, 0f64] [1f64, 0f64, 0f64] }
entry number_or_none [n] (neutral: f64) (xs: [n]f64) : ([n]f64, [n]f64) =
  (vjp (reduce f64.min neutral) xs 1, vjp (reduce f64.max neutral) xs 1)

-- In nests, and of what is computed from the arguments.
-- ==
-- entry: rows
-- input { [[1f32, 4f32, 4f32], [2f32, -3f32, 0f32]] }
-- output { [[0f32, 8f32, 0f32], [0f32, -6f32, 0f32]] [[16f32, 4f32, 4f32], [0f32, 0f32, -6f32]] }
entry rows [n] [m] (xss: [n][m]f32) : ([n][m]f32, [n][m]f32) =
  ( vjp (\yss -> f32.sum (map (\ys -> f32.maximum (map (\y -> y * y) ys)) yss)) xss 1
  , vjp (\yss -> f32.sum (map f32.product yss)) xss 1
  )

-- The product of the others may be a number where that of all is none.
-- ==
-- entry: ranges
-- input { [1e30f32, 1e30f32] } output { [1e30f32, 1e30f32] }
-- input { [1e-30f32, 1e-30f32] } output { [1e-30f32, 1e-30f32] }
-- input { [0f32, 3f32, 5f32] } output { [15f32, 0f32, 0f32] }
-- input { [f32.inf, 3f32] } output { [3f32, f32.inf] }
-- input { [2f32, 4f32, 0.5f32] } output { [2f32, 1f32, 8f32] }
entry ranges [n] (xs: [n]f32) : [n]f32 = vjp f32.product xs 1

-- ==
-- entry: integers
-- input { [200u8, 3u8, 5u8] } output { [15u8, 232u8, 88u8] }
entry integers [n] (xs: [n]u8) : [n]u8 = vjp u8.product xs 1

-- The Hessian of a product, also at zero.
-- ==
-- entry: hessian
-- input { [0f64, 2f64, 4f64] } output { [[0f64, 4f64, 2f64], [4f64, 0f64, 0f64], [2f64, 0f64, 0f64]] }
-- input { [1f64, 2f64, 4f64] } output { [[0f64, 4f64, 2f64], [4f64, 0f64, 1f64], [2f64, 1f64, 0f64]] }
-- input { [0f64, 0f64, 4f64] } output { [[0f64, 4f64, 0f64], [4f64, 0f64, 0f64], [0f64, 0f64, 0f64]] }
entry hessian [n] (xs: [n]f64) : [n][n]f64 =
  tabulate n (\i -> jvp (\ys -> vjp f64.product ys 1) xs (replicate n 0 with [i] = 1))

-- The same by a derivative that stands in no map.
-- ==
-- entry: row_of_hessian
-- input { [0f64, 2f64, 4f64] 1i64 } output { [4f64, 0f64, 0f64] [4f64, 0f64, 0f64] }
-- input { [1f64, 2f64, 4f64] 1i64 } output { [4f64, 0f64, 1f64] [4f64, 0f64, 1f64] }
entry row_of_hessian [n] (xs: [n]f64) (i: i64) : ([n]f64, [n]f64) =
  let gradient ys = vjp f64.product ys 1
  let unit = replicate n 0 with [i] = 1
  in (jvp gradient xs unit, vjp gradient xs unit)

-- ==
-- entry: greatest_of_bins
-- input { [5f32, 0f32, 2f32] [0i64, 1i64, 1i64, 2i64, 7i64, -1i64, 1i64] [4f32, 3f32, 3f32, 2f32, 9f32, 9f32, 1f32] }
-- output { [1f32, 0f32, 4f32] [0f32, 2f32, 0f32, 0f32, 0f32, 0f32, 0f32] }
entry greatest_of_bins [k] [n] (bins: [k]f32) (is: [n]i64) (xs: [n]f32) : ([k]f32, [n]f32) =
  vjp (\(b, ys) -> reduce_by_index (copy b) f32.max f32.lowest is ys) (bins, xs)
      (map (\i -> f32.i64 (2 ** i)) (iota k))

-- ==
-- entry: least_of_bins
-- input { [[9i32, 1i32], [5i32, 9i32]] [0i64, 1i64, 0i64, 1i64, 2i64] [0i64, 1i64, 1i64, 1i64, 0i64] [3i32, 4i32, 1i32, 4i32, 0i32] }
-- output { [[0i32, 1i32], [1i32, 0i32]] [1i32, 1i32, 0i32, 0i32, 0i32] }
entry least_of_bins [k] [l] [n] (bins: [k][l]i32) (is: [n]i64) (js: [n]i64) (xs: [n]i32) : ([k][l]i32, [n]i32) =
  vjp (\(b, ys) -> reduce_by_index_2d (copy b) i32.min i32.highest (zip is js) ys) (bins, xs)
      (replicate k (replicate l 1))

-- Of a scan on numbers of two types, of which one does not hold what the other does.
-- ==
-- entry: of_two_types
-- input { [1f16, 2f16] [1f32, 2f32] [1f16, 1f16] [1f32, 70000f32] }
-- output { [3f16, 1f16] [140001f32, 70000f32] }
entry of_two_types [n] (xs: [n]f16) (ys: [n]f32) (vs: [n]f16) (ws: [n]f32) : ([n]f16, [n]f32) =
  let products (xs, ys) =
    unzip (scan (\(a, b) (x, y) -> (a f16.* x, b f32.* y)) (1, 1) (zip xs ys))
  in vjp products (xs, ys) (vs, ws)
