-- Operations on the rows of a matrix.
-- ==
-- entry: check_segmented
-- input { 40i64 50i64 } output { true }

import "../random"

entry make_i32 (h: i64) (w: i64) (seed: i64) : [h][w]i32 =
  tabulate_2d h w (\i j -> i32.u32 (random_u32 seed (i * w + j)))

entry sums [h] [w] (rows: [h][w]i32) : [h]i32 = map i32.sum rows
entry scans [h] [w] (rows: [h][w]i32) : [h][w]i32 = map (scan (+) 0) rows

entry check_segmented (h: i64) (w: i64) : bool =
  let rows = make_i32 h w 1
  in and (map3 (\row sum scan -> last scan == sum && (loop s = 0 for x in row do s + x) == sum)
               rows (sums rows) (scans rows))
