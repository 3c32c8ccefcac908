-- An image pipeline on bytes: a blur in two directions, edges, and an equalised histogram.
-- ==
-- entry: image
-- script input { make_image 20i64 31i64 1i64 } auto output

-- ==
-- entry: check_image
-- input { 40i64 50i64 1i64 } output { true }

import "../random"

-- | Soft waves with noise.
entry make_image (h: i64) (w: i64) (seed: i64) : [h][w]u8 =
  tabulate_2d h w (\i j ->
    let wave = (i * i / 64 + j * 3) % 256
    let noise = random_below 32 seed (i * w + j)
    in u8.i64 (i64.min 255 (wave / 2 + noise)))

def clamp (limit: i64) (i: i64) : i64 = i64.max 0 (i64.min (limit - 1) i)

def binomial (a: i32) (b: i32) (c: i32) (d: i32) (e: i32) : i32 = a + 4 * b + 6 * c + 4 * d + e

def blur [h] [w] (pixels: [h][w]u8) : [h][w]u8 =
  let at i j = i32.u8 pixels[i, clamp w j]
  let rows = tabulate_2d h w (\i j -> binomial (at i (j - 2)) (at i (j - 1)) (at i j) (at i (j + 1)) (at i (j + 2)))
  let row i j = rows[clamp h i, j]
  in tabulate_2d h w (\i j ->
       u8.i32 (binomial (row (i - 2) j) (row (i - 1) j) (row i j) (row (i + 1) j) (row (i + 2) j) / 256))

def edges [h] [w] (pixels: [h][w]u8) : [h][w]u8 =
  tabulate_2d h w (\i j ->
    let at y x = i32.u8 pixels[clamp h (i + y), clamp w (j + x)]
    let across = at (-1) 1 + 2 * at 0 1 + at 1 1 - at (-1) (-1) - 2 * at 0 (-1) - at 1 (-1)
    let down = at 1 (-1) + 2 * at 1 0 + at 1 1 - at (-1) (-1) - 2 * at (-1) 0 - at (-1) 1
    in u8.i32 (i32.min 255 (i32.abs across + i32.abs down)))

def equalised [h] [w] (pixels: [h][w]u8) : [h][w]u8 =
  let counts = hist (+) 0i32 256 (map i64.u8 (flatten pixels)) (replicate (h * w) 1)
  let below = scan (+) 0 counts
  let total = i64.max 1 (h * w)
  let levels = map (\c -> u8.i64 (i64.i32 c * 255 / total)) below
  in map (map (\p -> levels[i64.u8 p])) pixels

entry image [h] [w] (pixels: [h][w]u8) : ([h][w]u8, [h][w]u8) =
  let soft = blur pixels
  in (equalised soft, edges soft)

-- A plain image has no edges, and the brightest pixel of an equalised one is white.
entry check_image (h: i64) (w: i64) (seed: i64) : bool =
  let (_, none) = image (replicate h (replicate w 77))
  let (even, _) = image (make_image h w seed)
  in all (== 0) (flatten none) && u8.maximum (flatten even) == 255
