-- Escape times of points of the plane: bound by arithmetic, divergent.
-- ==
-- entry: picture
-- input { 16i64 16i64 50 } auto output
-- input { 1000i64 1000i64 255 }
-- input { 4000i64 4000i64 255 }

def escape_time (limit: i32) (cr: f32, ci: f32) : i32 =
  let (_, _, n) =
    loop (zr, zi, n) = (0, 0, 0) while n < limit && zr * zr + zi * zi < 4 do
      (zr * zr - zi * zi + cr, 2 * zr * zi + ci, n + 1)
  in n

entry picture (h: i64) (w: i64) (limit: i32) : [h][w]i32 =
  let point y x =
    (-2.25 + 3 * f32.i64 x / f32.i64 w, -1.5 + 3 * f32.i64 y / f32.i64 h)
  let color n =
    if n == limit then 0 else ((n * 5) & 0xff) << 16 | ((n * 3) & 0xff) << 8 | ((n * 11) & 0xff)
  in tabulate_2d h w (\y x -> color (escape_time limit (point y x)))
