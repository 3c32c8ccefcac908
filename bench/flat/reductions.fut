-- Reductions of a whole array.
-- ==
-- entry: check_reductions
-- input { 1000i64 } output { true }

import "../random"

entry make_i32 (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i))
entry make_f32 (n: i64) (seed: i64) : [n]f32 = tabulate n (random_f32 seed)
-- | Matrices so near to the unit matrix that the product of millions is: steps of 2^-23.
entry make_matrices (n: i64) (seed: i64) : [n][4]f32 =
  tabulate_2d n 4 (\i j ->
    let steps = random_below 5 seed (i * 4 + j) - 2
    in f32.i64 steps * 1.1920929e-7 + f32.bool (j == 0 || j == 3))

entry sum_i32 (xs: []i32) : i32 = i32.sum xs
entry sum_f32 (xs: []f32) : f32 = f32.sum xs
entry max_f32 (xs: []f32) : f32 = f32.maximum xs

entry maps_sum (xs: []i32) : i32 =
  xs |> map (+ 1) |> map (* 3) |> map (^ 0x55) |> map (>> 1) |> map (\x -> x - 9) |> i32.sum

def times (a, b, c, d) (e, f, g, h) : (f32, f32, f32, f32) =
  (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

entry product_2x2 [n] (ms: [n][4]f32) : (f32, f32, f32, f32) =
  reduce times (1, 0, 0, 1) (map (\m -> (m[0], m[1], m[2], m[3])) ms)

entry check_reductions (n: i64) : bool =
  let xs = make_i32 n 1
  let one = loop sum = 0 for x in xs do sum + x
  let ms = make_matrices n 1
  let all = loop all = (1, 0, 0, 1) for m in ms do times all (m[0], m[1], m[2], m[3])
  in sum_i32 xs == one && f32.abs ((product_2x2 ms).0 / all.0 - 1) < 1e-5
