-- Only one element of what a map makes is used, and what the map read is written to afterwards.
-- ==
-- entry: behind_a_branch
-- input { [[1, 2, 3], [70, 8, 9]] } output { [1100, 7070] }
-- ==
-- entry: rows
-- input { [[[1, 2], [3, 4], [5, 6]]] } output { [[1, 2]] [77] }

entry behind_a_branch [n] (xss: [n][3]i32) : [n]i32 =
  map (\row ->
         let xs = loop (xs: *[3]i32) = copy row for _i < 2i32 do xs with [1] = row[1]
         let ys = map (* 100) xs
         let zs = if row[0] < 50 then xs with [0] = 1000 else xs
         in ys[0] + zs[0])
      xss

entry rows [n] (xsss: [n][3][2]i32) : ([n][2]i32, [n]i32) =
  unzip (map (\xss0 ->
                let xss = loop (xss: *[3][2]i32) = copy xss0 for _i < 2i32 do xss with [0, 1] = xss0[0, 1]
                let ys = map (\(r: [2]i32) : [2]i32 -> if r[1] > -100 then r else replicate 2 1) xss
                let first = ys[0]
                let after = xss with [0, 0] = 77
                in (first, after[0, 0]))
             xsss)
