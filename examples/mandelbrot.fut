-- The Mandelbrot set as a picture: one colour, 0xRRGGBB, for every pixel. Points that do not
-- escape within `depth` steps are black.
-- ==
-- entry: mandelbrot
-- input { 3i64 1i64 10i32 -3f32 -1f32 3f32 1f32 }
-- output { [[0, 0, 395825]] }
-- input { 2i64 2i64 100i32 -0.1f32 -0.1f32 0.1f32 0.1f32 }
-- output { [[0, 0], [0, 0]] }
-- input { 0i64 0i64 1i32 0f32 0f32 1f32 1f32 }
-- output { empty([0][0]i32) }

-- ==
-- entry: mandelbrot
-- notest compiled input { 1920i64 1080i64 256i32 -2.23f32 -1.15f32 0.83f32 1.15f32 }

type complex = {re: f32, im: f32}

def square (z: complex) : complex = {re = z.re * z.re - z.im * z.im, im = 2 * z.re * z.im}

def plus (a: complex) (b: complex) : complex = {re = a.re + b.re, im = a.im + b.im}

def norm2 (z: complex) : f32 = z.re * z.re + z.im * z.im

-- | The number of steps until the orbit of `c` leaves the disc of radius 2, at most `depth`.
def escape (depth: i32) (c: complex) : i32 =
  let (_, steps) =
    loop (z, i) = ({re = 0, im = 0}, 0)
    while i < depth && norm2 z <= 4 do
      (square z `plus` c, i + 1)
  in steps

def pack (red: i32) (green: i32) (blue: i32) : i32 =
  let channel level shift = i32.min 255 level << shift
  in channel red 16 | channel green 8 | channel blue 0

-- | Early escapes are dark blue; the longer it takes, the brighter and warmer.
def colour (depth: i32) (steps: i32) : i32 =
  if steps == depth then 0 else pack (3 * steps) (5 * steps) (31 + 9 * steps)

entry mandelbrot
  (width: i64)
  (height: i64)
  (depth: i32)
  (xmin: f32)
  (ymin: f32)
  (xmax: f32)
  (ymax: f32) : [height][width]i32 =
  let at (low: f32) (high: f32) (i: i64) (n: i64) : f32 =
    low + (f32.i64 i + 0.5) * (high - low) / f32.i64 n
  in tabulate_2d height width (\y x ->
       colour depth (escape depth {re = at xmin xmax x width, im = at ymin ymax y height}))
