-- Transpositions.
-- ==
-- entry: check_layouts
-- input { 33i64 50i64 } output { true }

import "../random"

entry make_i32 (h: i64) (w: i64) (seed: i64) : [h][w]i32 =
  tabulate_2d h w (\i j -> i32.u32 (random_u32 seed (i * w + j)))
entry make_u8 (h: i64) (w: i64) (seed: i64) : [h][w]u8 =
  tabulate_2d h w (\i j -> u8.u32 (random_u32 seed (i * w + j)))
entry make_many (n: i64) (h: i64) (w: i64) (seed: i64) : [n][h][w]i32 =
  tabulate_3d n h w (\b i j -> i32.u32 (random_u32 seed ((b * h + i) * w + j)))

entry turn_i32 [h] [w] (xs: [h][w]i32) : [w][h]i32 = copy (transpose xs)
entry turn_u8 [h] [w] (xs: [h][w]u8) : [w][h]u8 = copy (transpose xs)
entry turn_many [n] [h] [w] (xs: [n][h][w]i32) : [n][w][h]i32 = copy (map transpose xs)

entry check_layouts (h: i64) (w: i64) : bool =
  let xs = make_u8 h w 1
  let ys = turn_u8 xs
  let many = make_many 3 h w 1
  let turned = turn_many many
  in and (flatten (tabulate_2d h w (\i j -> xs[i, j] == ys[j, i])))
     && and (flatten_3d (tabulate_3d 3 h w (\b i j -> many[b, i, j] == turned[b, j, i])))
