-- Repeated averaging on a grid: neighbours are read, the grid is written anew each step.
-- ==
-- entry: heat
-- random input { [32][32]f32 4 } auto output
-- random input { [1000][1000]f32 100 }
-- random input { [4000][4000]f32 10 }

entry heat [h] [w] (grid: [h][w]f32) (steps: i32) : [h][w]f32 =
  let step (g: [h][w]f32) =
    tabulate_2d h w (\y x ->
      let at i j = g[i64.max 0 (i64.min (h - 1) i), i64.max 0 (i64.min (w - 1) j)]
      in 0.5 * at y x + 0.125 * (at (y - 1) x + at (y + 1) x + at y (x - 1) + at y (x + 1)))
  in loop g = grid for _i < steps do step g
