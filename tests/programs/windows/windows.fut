-- Maps whose neighbouring elements read the same: windows of literal and of given sizes, along rows,
-- along columns and along both.
-- ==
-- entry: down
-- script input { grid 70i64 41i64 } auto output
-- script input { grid 5i64 64i64 } auto output
-- script input { grid 1i64 300i64 } auto output
-- script input { grid 300i64 1i64 } auto output
-- script input { grid 0i64 7i64 } auto output

-- ==
-- entry: across
-- script input { grid 70i64 44i64 } auto output
-- script input { grid 7i64 41i64 } auto output
-- script input { grid 1i64 400i64 } auto output
-- script input { grid 300i64 1i64 } auto output
-- script input { grid 7i64 0i64 } auto output

-- ==
-- entry: binomial pixels tilted doubled
-- script input { grid 70i64 41i64 } auto output
-- script input { grid 3i64 100i64 } auto output

-- ==
-- entry: pixels_across
-- script input { grid 31i64 41i64 } auto output
-- script input { grid 5i64 520i64 } auto output
-- script input { grid 200i64 3i64 } auto output

-- ==
-- entry: moving
-- script input { numbers 301i64 } auto output
-- script input { numbers 4096i64 } auto output
-- script input { numbers 7i64 } auto output

-- ==
-- entry: heat
-- script input { floats 67i64 44i64 } auto output

-- ==
-- entry: line
-- script input { numbers 301i64 } auto output
-- script input { numbers 4096i64 } auto output

-- ==
-- entry: middle
-- script input { block 5i64 31i64 33i64 } auto output

-- ==
-- entry: unclamped unclamped_across
-- script input { grid 66i64 40i64 } auto output

-- ==
-- entry: one_too_many one_too_many_across
-- script input { grid 66i64 40i64 }
-- error: out of bounds

-- ==
-- entry: not_in_row_eight
-- script input { grid 66i64 40i64 }
-- error: Assertion

def number (i: i64) : i32 = i32.i64 ((i * 7919 + i * i * 31 + 5) % 251)

entry grid (h: i64) (w: i64) : [h][w]i32 = tabulate_2d h w (\i j -> number (i * w + j))
entry floats (h: i64) (w: i64) : [h][w]f32 = map (map f32.i32) (grid h w)
entry numbers (n: i64) : [n]i32 = tabulate n number
entry block (d: i64) (h: i64) (w: i64) : [d][h][w]i32 =
  tabulate_3d d h w (\i j k -> number ((i * h + j) * w + k))

def clamped (n: i64) (i: i64) : i64 = i64.max 0 (i64.min (n - 1) i)

def down_by [h] [w] (r: i64) (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j ->
    loop s = 3 for k < 2 * r + 1 do s + a[clamped h (i + k - r), j])

def across_by [h] [w] (r: i64) (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j ->
    loop s = 3 for k < 2 * r + 1 do s + a[i, clamped w (j + k - r)])

-- Windows of some number of elements, of none, and of more than there are.
entry down [h] [w] (a: [h][w]i32) : ([h][w]i32, [h][w]i32) =
  (down_by (h % 3 - 2) a, down_by 15 a)

entry across [h] [w] (a: [h][w]i32) : ([h][w]i32, [h][w]i32) =
  (across_by (w % 3 - 2) a, across_by 15 a)

entry binomial [h] [w] (a: [h][w]i32) : [h][w]i32 =
  let weighted x y z u v : i32 = x + 4 * y + 6 * z + 4 * u + v
  in tabulate_2d h w (\i j ->
       let row y =
         let at x = a[clamped h (i + y), clamped w (j + x)]
         in weighted (at (-2)) (at (-1)) (at 0) (at 1) (at 2)
       in 128 + weighted (row (-2)) (row (-1)) (row 0) (row 1) (row 2))

-- Several values of a byte in each element, in a window that is given.
entry pixels [h] [w] (a: [h][w]i32) : ([h][w][4]u8, [h][w]i64) =
  let bytes = tabulate_3d h w 4 (\i j k -> u8.i32 (a[i, j] * (1 + i32.i64 k)))
  let n = 1 + i32.i64 (h % 7)
  in unzip (map unzip (tabulate_2d h w (\i j ->
       let (x, y, z, s) =
         loop (x, y, z, s) = (0u8, 1u8, 2u8, 3i64) for k < n do
           let at = clamped h (i64.i32 k + i)
           in (x + bytes[at, j, 0], y + bytes[at, j, 1], z + bytes[at, j, 2], s + i64.u8 bytes[at, j, 3])
       in ([x, y, z, u8.i64 (s / 3)], s))))

entry pixels_across [h] [w] (a: [h][w]i32) : ([h][w][4]u8, [h][w]i64) =
  let bytes = tabulate_3d h w 4 (\i j k -> u8.i32 (a[i, j] * (1 + i32.i64 k)))
  let n = 8 + i32.i64 (h % 7)
  in unzip (map unzip (tabulate_2d h w (\i j ->
       let (x, y, z, s) =
         loop (x, y, z, s) = (0u8, 1u8, 2u8, 3i64) for k < n do
           let at = clamped w (i64.i32 k + j)
           in (x + bytes[i, at, 0], y + bytes[i, at, 1], z + bytes[i, at, 2], s + i64.u8 bytes[i, at, 3])
       in ([x, y, z, u8.i64 (s / 3)], s))))

-- Rows whose sums differ, what is added changes its sign, and something is no element.
entry tilted [h] [w] (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j ->
    let at y x = a[clamped h (i + y), clamped w (j + x)]
    in at (-1) (-1) + 2 * at (-1) 0 + at (-1) 1 - i32.i64 j - at 1 (-1) - 2 * at 1 0 - at 1 1
       + 7 * at 0 0 - 3 * at 0 1 + 0x7fffffff)

-- No window: each iteration changes the whole sum.
entry doubled [h] [w] (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j -> loop s = 1 for k < i32.i64 (w % 5) do 2 * s + a[clamped h (i + i64.i32 k), j])

entry heat [h] [w] (a: [h][w]f32) : [h][w]f32 =
  tabulate_2d h w (\i j ->
    let at y x = a[clamped h (i + y), clamped w (j + x)]
    let row y = at y (-1) + at y 0 + at y 1
    in at 0 0 + 0.125 * (row (-1) + row 0 + row 1 - 9 * at 0 0))

entry line [n] (xs: [n]i32) : ([n]i32, [n]i32) =
  let at i = xs[clamped n i]
  in (tabulate n (\i -> at (i - 2) - at (i - 1) * at i + at (i + 1) * at (i + 2)),
      tabulate n (\i -> loop s = 0 for k < i32.i64 (n % 9) do s + at (i + i64.i32 k)))

entry moving [n] (xs: [n]i32) : [n]i32 =
  tabulate n (\i -> loop s = 0 for k < 11i64 do s + xs[clamped n (i + k - 5)])

entry middle [d] [h] [w] (a: [d][h][w]i32) : [d][h][w]i32 =
  tabulate_3d d h w (\i j k ->
    let at y = a[i, clamped h (j + y), k]
    in at (-1) * at 0 + at 1)

-- Every place is checked, and inside.
entry unclamped [h] [w] (a: [h][w]i32) : [][w]i32 =
  let n = h % 9
  in tabulate_2d (h - n + 1) w (\i j -> loop s = 0 for k < n do s + a[i + k, j])

entry unclamped_across [h] [w] (a: [h][w]i32) : [h][]i32 =
  let n = h % 9 + 5
  in tabulate_2d h (w - n + 1) (\i j -> loop s = 0 for k < n do s + a[i, j + k])

entry one_too_many [h] [w] (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j -> loop s = 0 for k < 2i64 do s + a[i + k, j])

entry one_too_many_across [h] [w] (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j -> loop s = 0 for k < 9i64 do s + a[i, j + k])

entry not_in_row_eight [h] [w] (a: [h][w]i32) : [h][w]i32 =
  tabulate_2d h w (\i j ->
    let above = assert (i == 0 || i != 8) a[i64.max 0 (i - 1), j]
    in above + a[i, j])
