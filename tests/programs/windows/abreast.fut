-- Maps whose neighbours along rows read the same, which a thread makes four at a time where rows have
-- a multiple of four elements: at edges and away from them, and where there are only edges.
-- ==
-- entry: torus crosses
-- script input { bytes 31i64 44i64 } auto output
-- script input { bytes 9i64 41i64 } auto output
-- script input { bytes 40i64 4i64 } auto output
-- script input { bytes 16i64 8i64 } auto output
-- script input { bytes 1i64 64i64 } auto output
-- script input { bytes 70i64 1i64 } auto output
-- script input { bytes 0i64 8i64 } auto output
-- script input { bytes 3i64 0i64 } auto output

-- ==
-- entry: block batch
-- script input { floats 5i64 6i64 12i64 } auto output
-- script input { floats 5i64 6i64 4i64 } auto output
-- script input { floats 3i64 7i64 13i64 } auto output

-- ==
-- entry: line far mirrored
-- script input { numbers 64i64 } auto output
-- script input { numbers 61i64 } auto output
-- script input { numbers 4i64 } auto output

-- ==
-- entry: binomial
-- script input { picture 66i64 44i64 } auto output
-- script input { picture 40i64 12i64 } auto output
-- script input { picture 33i64 8i64 } auto output
-- script input { picture 32i64 4i64 } auto output

-- ==
-- entry: beyond_the_last
-- script input { numbers 64i64 }
-- error: out of bounds

def number (i: i64) : i64 = (i * 7919 + i * i * 31 + 5) % 251

entry bytes (h: i64) (w: i64) : [h][w]u8 = tabulate_2d h w (\i j -> u8.i64 (number (i * w + j)))
entry floats (d: i64) (h: i64) (w: i64) : [d][h][w]f32 =
  tabulate_3d d h w (\i j k -> f32.i64 (number ((i * h + j) * w + k)))
entry numbers (n: i64) : [n]i64 = tabulate n number
entry picture (h: i64) (w: i64) : [h][w][4]u8 =
  tabulate_3d h w 4 (\i j k -> u8.i64 (number ((i * w + j) * 4 + k)))

def clamped (n: i64) (i: i64) : i64 = i64.max 0 (i64.min (n - 1) i)

entry torus [h] [w] (a: [h][w]u8) : [h][w]u8 =
  tabulate_2d h w (\i j ->
    let (n, s) = (if i == 0 then h - 1 else i - 1, if i == h - 1 then 0 else i + 1)
    let (o, e) = (if j == 0 then w - 1 else j - 1, if j == w - 1 then 0 else j + 1)
    let around = a[n, o] + a[n, j] * 3 + a[n, e] + a[i, o] + a[i, e] + a[s, o] + a[s, j] + a[s, e]
    in if around % 3 == 0 then 7 else if around % 3 == 1 && a[i, j] > 100 then around else 9)

-- Two results of different types.
entry crosses [h] [w] (a: [h][w]u8) : ([h][w]i32, [h][w]u8) =
  unzip (map unzip (tabulate_2d h w (\i j ->
    let at x = i32.u8 a[i, clamped w (j + x)]
    let all = at (-2) + 3 * at (-1) + 5 * at 0 + 7 * at 1 + 11 * at 2
    in (all, u8.i32 (all / 27)))))

entry block [d] [h] [w] (a: [d][h][w]f32) : [d][h][w]f32 =
  tabulate_3d d h w (\i j k ->
    a[clamped d (i - 1), j, k] - a[clamped d (i + 1), j, k] + a[i, clamped h (j - 1), k] * 2
    - a[i, clamped h (j + 1), k] + a[i, j, clamped w (k - 1)] * 3 - a[i, j, clamped w (k + 1)] + a[i, j, k])

-- How wide the pictures are differs, so where a row ends depends on a dim that is not walked along.
entry batch [d] [h] [w] (a: [d][h][w]f32) : [d][h][w]f32 =
  tabulate_3d d h w (\i j k ->
    let at y x = a[i, clamped h (j + y), clamped (w - i % 2) (k + x)]
    in at (-1) (-1) + at (-1) 0 * 2 + at (-1) 1 - at 0 (-1) + at 0 0 + at 0 1 * 3 + at 1 (-1) - at 1 0 + at 1 1)

entry line [n] (xs: [n]i64) : [n]i64 =
  tabulate n (\i -> xs[clamped n (i - 1)] - 2 * xs[i] + xs[clamped n (i + 1)])

-- Half of the neighbours are far away, and the same ones.
entry far [n] (xs: [n]i64) : [n]i64 =
  tabulate n (\i -> xs[clamped n (i + 50)] + 3 * xs[clamped n (i + 51)] + 5 * xs[clamped n (i + 52)])

-- Where one index grows the other falls.
entry mirrored [n] (xs: [n]i64) : [n]i64 =
  tabulate n (\i -> xs[i] + 3 * xs[clamped n (i + 1)] + 5 * xs[clamped n (i + 2)] - xs[n - 1 - i])

entry binomial [h] [w] (a: [h][w][4]u8) : [h][w][4]u8 =
  let weighted x y z u v : i32 = x + 4 * y + 6 * z + 4 * u + v
  in tabulate_2d h w (\i j ->
       let channel k =
         let row y =
           let at x = i32.u8 a[clamped h (i + y), clamped w (j + x), k]
           in weighted (at (-2)) (at (-1)) (at 0) (at 1) (at 2)
         in u8.i32 ((128 + weighted (row (-2)) (row (-1)) (row 0) (row 1) (row 2)) / 256)
       in [channel 0, channel 1, channel 2, channel 3])

entry beyond_the_last [n] (xs: [n]i64) : [n]i64 =
  tabulate n (\i -> xs[i64.max 0 (i - 1)] + xs[i] + xs[i + 1])
