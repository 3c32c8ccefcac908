-- Conway's game of life on a torus, a byte per cell.
-- ==
-- entry: life
-- script input { make_life 20i64 33i64 1i64 } auto output

-- ==
-- entry: check_glider
-- input { 12i64 } output { true }

import "../random"

entry make_life (h: i64) (w: i64) (seed: i64) : ([h][w]u8, i64) =
  (tabulate_2d h w (\i j -> u8.u32 (random_u32 seed (i * w + j) & 1)), 10)

def after [h] [w] (generations: i64) (cells: [h][w]u8) : [h][w]u8 =
  loop cells for _i < generations do
    tabulate_2d h w (\i j ->
      let (n, s) = (if i == 0 then h - 1 else i - 1, if i == h - 1 then 0 else i + 1)
      let (o, e) = (if j == 0 then w - 1 else j - 1, if j == w - 1 then 0 else j + 1)
      let around = cells[n, o] + cells[n, j] + cells[n, e] + cells[i, o] + cells[i, e]
                   + cells[s, o] + cells[s, j] + cells[s, e]
      in u8.bool (around == 3 || (around == 2 && cells[i, j] == 1)))

entry life [h] [w] (cells: [h][w]u8) (generations: i64) : [h][w]u8 = after generations cells

-- After four generations a glider is one row and one column on.
entry check_glider (n: i64) : bool =
  let glider y x =
    tabulate_2d n n (\i j -> let p = (i - y, j - x)
                             in u8.bool (p == (0, 1) || p == (1, 2) || p == (2, 0) || p == (2, 1) || p == (2, 2)))
  in and (map2 (==) (flatten (after 4 (glider 2 3))) (flatten (glider 3 4)))
