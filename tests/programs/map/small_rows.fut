-- Maps to rows of a few scalars, which are stored, and read, as vectors where there are two or four of them.

-- ==
-- entry: pixels
-- input { empty([0][2][4]u8) } output { empty([0][2][4]u8) }
-- input { [[[1u8, 2u8, 3u8, 4u8], [255u8, 254u8, 0u8, 9u8]]] }
-- output { [[[254u8, 253u8, 252u8, 4u8], [0u8, 1u8, 255u8, 9u8]]] }
entry pixels [h][w] (xss: [h][w][4]u8): [h][w][4]u8 =
  map (map (\p -> [255 - p[0], 255 - p[1], 255 - p[2], p[3]])) xss

-- ==
-- entry: threes
-- input { [1.5f32, -2f32] } output { [[1.5f32, 3f32, 2.25f32], [-2f32, -4f32, 4f32]] }
entry threes [n] (xs: [n]f32): [n][3]f32 = map (\x -> [x, x * 2, x * x]) xs

-- Rows beside a scalar, and a row that is read, too.
-- ==
-- entry: beside
-- input { [3i64, -4i64, 5i64] }
-- output { [[3i64, 4i64], [-4i64, -3i64], [5i64, 6i64]] [9i64, 16i64, 25i64] }
-- input { empty([0]i64) } output { empty([0][2]i64) empty([0]i64) }
entry beside [n] (xs: [n]i64): ([n][2]i64, [n]i64) = unzip (map (\x -> ([x, x + 1], x * x)) xs)

-- ==
-- entry: read_again
-- input { [3i32, -4i32] 1i64 } output { [[3i32, 6i32], [-4i32, -8i32]] [6i32, -8i32] }
-- input { [3i32, -4i32] 0i64 } output { [[3i32, 6i32], [-4i32, -8i32]] [3i32, -4i32] }
entry read_again [n] (xs: [n]i32) (k: i64): ([n][2]i32, [n]i32) =
  unzip (map (\x -> let row = [x, x * 2] in (row, row[k])) xs)

-- As many as fill several workgroups, and some more; rows are stored that stand in another order.
-- ==
-- entry: many
-- input { 0i64 } output { true }
-- input { 1i64 } output { true }
-- input { 511i64 } output { true }
-- input { 513i64 } output { true }
-- input { 70001i64 } output { true }
entry many (n: i64): bool =
  let rows = map (\i -> [i, i + 1, i + 2, i + 3]) (iota n)
  let turned = map (\r -> [r[3], r[1], r[2], r[0]]) rows
  let bytes = map (\r -> [u8.i64 r[0], u8.i64 r[1]]) turned
  in and (map3 (\i r b -> r[0] == i + 3 && r[1] == i + 1 && r[2] == i + 2 && r[3] == i
                          && b[0] == u8.i64 (i + 3) && b[1] == u8.i64 (i + 1))
               (iota n) (copy turned) (copy bytes))

-- Neighbours in a loop, from an odd place on and from an even one.
-- ==
-- entry: sums
-- input { [1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 7i32, 8i32] } output { [4i32, 6i32] }
entry sums (xs: [8]i32): [2]i32 =
  map (\i -> loop s = 0 for k < 2 do s + xs[4 * i + 2 * k] - xs[4 * i + 2 * k + 1] + xs[2 * k + 1 + i])
      (iota 2)
