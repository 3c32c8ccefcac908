-- Scans of a whole array.
-- ==
-- entry: check_scans
-- input { 1000i64 } output { true }

import "../random"

entry make_i32 (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i))
entry make_f32 (n: i64) (seed: i64) : [n]f32 = tabulate n (random_f32 seed)
-- | Matrices so near to the unit matrix that the product of millions is: steps of 2^-23.
entry make_matrices (n: i64) (seed: i64) : [n][4]f32 =
  tabulate_2d n 4 (\i j ->
    let steps = random_below 5 seed (i * 4 + j) - 2
    in f32.i64 steps * 1.1920929e-7 + f32.bool (j == 0 || j == 3))

entry scan_i32 [n] (xs: [n]i32) : [n]i32 = scan (+) 0 xs
entry scan_f32 [n] (xs: [n]f32) : [n]f32 = scan (+) 0 xs

def times (a, b, c, d) (e, f, g, h) : (f32, f32, f32, f32) =
  (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

entry scan_2x2 [n] (ms: [n][4]f32) : ([n]f32, [n]f32, [n]f32, [n]f32) =
  unzip4 (scan times (1, 0, 0, 1) (map (\m -> (m[0], m[1], m[2], m[3])) ms))

entry check_scans (n: i64) : bool =
  let xs = make_i32 n 1
  let sums = scan_i32 xs
  in all (\i -> sums[i] == xs[i] + if i == 0 then 0 else sums[i - 1]) (iota n)
