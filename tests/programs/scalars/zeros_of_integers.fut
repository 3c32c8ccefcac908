-- 0 times infinity is no number, also where a driver can tell that the integer is 0.
-- ==
-- entry: of_sums of_differences of_bits
-- input { [5i32, 7i32, 8i32, 9i32] [f32.inf, -1f32, -0f32, f32.nan] }
-- auto output
-- ==
-- entry: of_what_was_stored
-- input { [[5i32, 6i32, 7i32], [1i32, 2i32, 3i32]] [f32.inf, -1f32] }
-- auto output

entry of_sums (ns: []i32) (xs: []f32) : [][3]f32 =
  let products n x =
    loop (row: *[3]f32) = replicate 3 0 for i < 3i32 do row with [i] = f32.i32 ((n + i) - n) * x
  in map2 products ns xs

entry of_differences (ns: []i32) (xs: []f32) : []f32 =
  map2 (\n x -> loop sum = x for i < 3i32 do (sum + f32.i32 ((n + i) - n) * x) * -1) ns xs

entry of_bits (ns: []i32) (xs: []f32) : [][3]f32 =
  map2 (\n x -> tabulate 3 (\i -> f32.i32 (n ^ (n ^ i32.i64 i)) * x)) ns xs

entry of_what_was_stored [n] [m] (rows: [n][m]i32) (xs: [n]f32) : ([n]f32, [n][m]i32) =
  let store row x =
    let row = copy row
    let row = row with [1] = 0
    let product = f32.i32 row[1] * x
    in (product, row with [0] = 3)
  in unzip (map2 store rows xs)
