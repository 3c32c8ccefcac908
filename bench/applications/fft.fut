-- Fourier transforms of 2^k complex numbers by Stockham's radix-2 steps: of one long row, of many short ones.
-- ==
-- entry: fft
-- script input { make_fft 32i64 1i64 } auto output

-- ==
-- entry: fft_rows
-- script input { make_fft_rows 3i64 16i64 1i64 } auto output

-- ==
-- entry: check_fft
-- input { 256i64 1i64 } output { true }

import "../random"

def transformed [n] (xs: [n](f32, f32)) : [n](f32, f32) =
  let half = n / 2
  in loop xs for step < i64.i32 (63 - i64.clz n) do
    let s = 1 << step
    let out o =
      let (t, q) = (o / s, o % s)
      let p = t / 2
      let (a, b) = xs[q + s * p]
      let (c, d) = xs[q + s * p + half]
      in if t % 2 == 0
         then (a + c, b + d)
         else let angle = -2 * f32.pi * f32.i64 (p * s) / f32.i64 n
              let (u, v) = (f32.cos angle, f32.sin angle)
              in ((a - c) * u - (b - d) * v, (a - c) * v + (b - d) * u)
    in tabulate n out

entry make_fft (n: i64) (seed: i64) : ([n]f32, [n]f32) =
  (tabulate n (random_sign_f32 seed), tabulate n (random_sign_f32 (seed + 1)))

entry fft [n] (re: [n]f32) (im: [n]f32) : ([n]f32, [n]f32) = unzip (transformed (zip re im))

entry make_fft_rows (rows: i64) (n: i64) (seed: i64) : ([rows][n]f32, [rows][n]f32) =
  (random_matrix rows n seed, random_matrix rows n (seed + 1))

entry fft_rows [rows] [n] (re: [rows][n]f32) (im: [rows][n]f32) : ([rows][n]f32, [rows][n]f32) =
  unzip (map2 (\a b -> unzip (transformed (zip a b))) re im)

-- Twice transformed, the second time backwards, all is as it was.
entry check_fft (n: i64) (seed: i64) : bool =
  let (re, im) = make_fft n seed
  let (fr, fi) = fft re im
  let (br, bi) = fft fr (map f32.neg fi)
  let near a b = f32.abs (a - b / f32.i64 n) < 0.001
  in and (map2 near re br) && and (map2 near im (map f32.neg bi))
