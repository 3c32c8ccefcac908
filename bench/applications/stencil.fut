-- Heat in a plate and in a block: each step is made from the neighbours of the step before.
-- ==
-- entry: heat2
-- script input { make_heat2 20i64 33i64 1i64 } auto output

-- ==
-- entry: heat3
-- script input { make_heat3 9i64 8i64 11i64 1i64 } auto output

-- ==
-- entry: check_heat
-- input { 12i64 1i64 } output { true }

import "../random"

entry make_heat2 (h: i64) (w: i64) (seed: i64) : ([h][w]f32, i64) =
  (tabulate_2d h w (\i j -> random_f32 seed (i * w + j)), 10)

-- The edge keeps its temperature.
entry heat2 [h] [w] (plate: [h][w]f32) (steps: i64) : [h][w]f32 =
  loop t = plate for _i < steps do
    tabulate_2d h w (\i j ->
      if i == 0 || j == 0 || i == h - 1 || j == w - 1
      then t[i, j]
      else t[i, j] + 0.2 * (t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] - 4 * t[i, j]))

entry make_heat3 (d: i64) (h: i64) (w: i64) (seed: i64) : ([d][h][w]f32, i64) =
  (tabulate_3d d h w (\i j k -> random_f32 seed ((i * h + j) * w + k)), 10)

-- Nothing leaves the block: outside is as warm as the border.
def warmed [d] [h] [w] (steps: i64) (block: [d][h][w]f32) : [d][h][w]f32 =
  loop t = block for _i < steps do
    tabulate_3d d h w (\i j k ->
      let up = t[i64.max 0 (i - 1), j, k]
      let down = t[i64.min (d - 1) (i + 1), j, k]
      let north = t[i, i64.max 0 (j - 1), k]
      let south = t[i, i64.min (h - 1) (j + 1), k]
      let west = t[i, j, i64.max 0 (k - 1)]
      let east = t[i, j, i64.min (w - 1) (k + 1)]
      in 0.4 * t[i, j, k] + 0.1 * (up + down + north + south + west + east))

entry heat3 [d] [h] [w] (block: [d][h][w]f32) (steps: i64) : [d][h][w]f32 = warmed steps block

-- The block keeps its heat, and the warmest and coldest points come nearer.
entry check_heat (n: i64) (seed: i64) : bool =
  let (block, steps) = make_heat3 n n n seed
  let before = flatten_3d block
  let after = flatten_3d (warmed steps block)
  in f32.abs (f32.sum before - f32.sum after) < 0.001 * f32.sum before
     && f32.maximum after < f32.maximum before
     && f32.minimum after > f32.minimum before
