-- Rows that are flattened and then overwritten, of a size that is found out in the nest.

-- ==
-- entry: scattered
-- input { [[[1i32, 2], [3, 4]], [[5i32, 6], [7, 8]]] [0i64, 0] } output { [[9i32, 3, 3, 9], [9i32, 11, 7, 9]] }
-- input { [[[1i32, 2], [3, 4]]] [1i64] } error: .
entry scattered [n] [m] [q] (xs: [n][m][q]i32) (ks: [n]i64) : [n][m * q]i32 =
  map2 (\x k ->
          let sums = map (scan (+) 0) x
          let flat = flatten sums :> [(m + k) * q]i32
          in scatter flat [0, 3] [9, 9] :> [m * q]i32)
       xs ks

-- ==
-- entry: updated
-- input { [[[1i32, 2], [3, 4]], [[5i32, 6], [7, 8]]] 2i64 } output { [[[0i32, 3], [3, 10]], [[0i32, 11], [7, 22]]] }
-- input { [[[1i32, 2], [3, 4]]] 0i64 } output { [[[1i32, 2], [3, 4]]] }
entry updated [n] [m] [q] (xs: [n][m][q]i32) (turns: i64) : [n][m][q]i32 =
  map (\x -> loop x for _i < turns do
         let sums = map (scan (+) 0) x
         in unflatten (flatten sums with [0] = 0))
      xs
