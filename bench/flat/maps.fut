-- Maps that move each element once.
-- ==
-- entry: check_maps
-- input { 1000i64 } output { true }

import "../random"

entry make_i32 (n: i64) (seed: i64) : [n]i32 = tabulate n (\i -> i32.u32 (random_u32 seed i))
entry make_u8 (n: i64) (seed: i64) : [n]u8 = tabulate n (\i -> u8.u32 (random_u32 seed i))
entry make_f64 (n: i64) (seed: i64) : [n]f64 = tabulate n (\i -> f64.f32 (random_f32 seed i))

entry add_i32 (xs: []i32) : []i32 = map (+ 7) xs
entry add_u8 (xs: []u8) : []u8 = map (+ 7) xs
entry add_f64 (xs: []f64) : []f64 = map (+ 7) xs

entry check_maps (n: i64) : bool =
  let xs = make_u8 n 1
  in and (map2 (\x y -> y == x + 7) xs (add_u8 xs :> [n]u8))
