-- A map in a loop in a map: for each turn one launch of workgroups, where these are offered.
-- ==
-- entry: summed turned used written
-- input { 2i64 [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-1, -2, -3]]] } auto output
-- input { 0i64 [[[1, 2], [3, 4]]] } auto output
-- input { 2i64 empty([0][2][3]i32) } auto output
-- input { 2i64 empty([2][0][3]i32) } auto output
-- input { 2i64 empty([2][3][0]i32) } auto output
-- script input { made 3i64 4i64 40i64 5i64 } auto output
-- script input { made 4i64 3i64 64i64 64i64 } auto output
-- script input { made 3i64 2i64 3i64 129i64 } auto output
-- script input { made 2i64 1i64 2i64 700i64 } auto output
-- ==
-- entry: looked_up
-- script input { made 3i64 4i64 40i64 40i64 } auto output
-- input { 2i64 [[[1, 2, 900], [4, 5, 6]], [[7, 8, 9], [-1, -2, -3]]] }
-- error: out of bounds
-- ==
-- entry: looked_up
-- script input { too_far 3i64 4i64 40i64 } error: out of bounds

entry made (steps: i64) (n: i64) (m: i64) (k: i64): (i64, [n][m][k]i32) =
  (steps, tabulate_3d n m k (\i j l -> i32.i64 ((i * 31 + j * 7 + l * 13) % 37 - 11)))

entry too_far (steps: i64) (m: i64) (k: i64): (i64, [1][m][k]i32) =
  (steps, tabulate_3d 1 m k (\_ j l -> if j == m - 1 && l == k - 1 then i32.i64 k + 1 else i32.i64 l))

-- Three pieces and more in each row.
entry summed [n] [m] [k] (steps: i64) (xsss: [n][m][k]i32): [n][m][k]i32 =
  map (\xss ->
         loop yss = xss for _i < steps do
           map (\ys ->
                  let most = reduce i32.max i32.lowest ys
                  let zs = scan (+) 0 ys
                  let us = scan i32.max i32.lowest (map (\z -> z ^ most) zs)
                  in map2 (-) us (reverse zs))
               yss)
      xsss

-- Rows, then columns.
entry turned [n] [m] [k] (steps: i64) (xsss: [n][m][k]i32): [n][m][k]i32 =
  #[flattening(only_inner)]
  map (\xss ->
         loop yss = xss for _i < steps do
           let run [l] (row: [l]i32): [l]i32 =
             let (_, up) = unzip (scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (3, x)) row))
             let down = reverse (scan i32.min i32.highest (reverse up))
             in map2 (\a b -> a / 3 - b) up down
           in transpose (map run (transpose (map run yss))))
      xsss

-- What is known around the rows: numbers, an array, the turn.
entry used [n] [m] [k] (steps: i64) (xsss: [n][m][k]i32): [n][m]i32 =
  map2 (\p xss ->
          let weights = map (i32.sum) (transpose xss)
          let (_, sums) =
            loop (yss, sums) = (xss, replicate m 0) for i < steps do
              unzip (map2 (\ys s ->
                             let t = i32.i64 i + i32.sum (map2 (*) ys weights)
                             let us = scan (+) 0 (map (\y -> y % 5 + i32.i64 p) ys)
                             let v = reduce i32.min i32.highest us
                             in (map (\u -> u % 7 - t % 3) us, s + t - v))
                          yss sums)
          in sums)
       (iota n) xsss

-- Rows that are overwritten.
entry written [n] [m] [k] (steps: i64) (xsss: [n][m][k]i32): [n][m][k]i32 =
  map (\xss ->
         loop yss = copy xss for i < steps do
           map (\ys ->
                  let zs = map (+ 1) (scan (+) 0 ys)
                  let zs = if k > 0 then zs with [0] = i32.i64 i else zs
                  let least = reduce i32.min i32.highest zs
                  in map (\z -> z / 2 - least) (rotate 1 zs))
               yss)
      xsss

-- Elements that are places in the row.
entry looked_up [n] [m] [k] (steps: i64) (xsss: [n][m][k]i32): [n][m][k]i32 =
  map (\xss ->
         loop yss = xss for _i < steps do
           map (\ys ->
                  let zs = map (\y -> ys[i64.i32 (i32.abs y)]) ys
                  let us = scan i32.max 0 zs
                  let most = reduce i32.max 0 us
                  in map2 (\u z -> (u + i32.abs z) % (i32.min 3 (most + 1))) us zs)
               yss)
      xsss
