-- The Mandelbrot set: how many steps each point takes to leave.
-- ==
-- entry: check_mandelbrot
-- input { 64i64 100i64 } output { true }

entry make_mandelbrot (size: i64) (depth: i64) (_seed: i64) : (i64, i64) = (size, depth)

def steps (depth: i64) (x0: f32) (y0: f32) : i32 =
  let (_, _, n) =
    loop (x, y, n) = (x0, y0, 0i32) while n < i32.i64 depth && x * x + y * y < 4 do
      (x * x - y * y + x0, 2 * x * y + y0, n + 1)
  in n

entry mandelbrot (size: i64) (depth: i64) : [size][size]i32 =
  tabulate_2d size size (\i j ->
    steps depth (3 * f32.i64 j / f32.i64 size - 2.25) (3 * f32.i64 i / f32.i64 size - 1.5))

-- The middle of the heart stays, the corners leave at once.
entry check_mandelbrot (size: i64) (depth: i64) : bool =
  let set = mandelbrot size depth
  in set[size / 2, size * 2 / 3] == i32.i64 depth && set[0, 0] < 3 && set[size - 1, size - 1] < 5
