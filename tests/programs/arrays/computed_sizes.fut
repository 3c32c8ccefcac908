-- Sizes that no value has: what a use is instantiated with is an expression that calls functions.
-- ==
-- entry: halves
-- input { [1i64, 2i64] [0.5, 1.5] }
-- output { [[0i64, 1i64, 2i64], [10i64, 11i64, 12i64]] [[3i64, 4i64], [13i64, 14i64]] }
-- input { empty([0]i64) [0.5] }
-- output { empty([2][0]i64) [[0i64], [10i64]] }

entry halves [n] (ks: []i64) (_: [n]f64) =
  unzip (map split (tabulate_2d 2 (i64.sum ks + n) (\i j -> i * 10 + j)))

-- Where it is used for every element, and of a field.
-- ==
-- entry: of_rows
-- input { [[1i64, 0i64], [2i64, 0i64]] 1i64 }
-- output { [10i64, 12i64] }
entry of_rows [n] (kss: [n][2]i64) (m: i64) =
  map (\ks -> let r = {count = ks}
              let (a, b) = split (iota (reduce (+) 0 r.count + m))
              in 10 * length b + i64.sum a * 2)
      kss

-- ==
-- entry: piped
-- input { [2i64, 1i64] } output { [[0i64, 1i64, 2i64], [10i64, 11i64, 12i64]] }
entry piped (ks: []i64) =
  tabulate (i64.sum ks + length ks) (\i -> [i, i + 10])
  |> transpose
  |> map (\xs -> (split xs).0)

-- The rows of a map, computed in branches.
-- ==
-- entry: rows
-- input { [1i64, 2i64] 2i64 } output { [[1i64, 1i64, 1i64], [0i64, 7i64, 0i64]] }
entry rows (ks: []i64) (n: i64) =
  tabulate n (\i -> if i == 0
                    then replicate (i64.sum ks) 1i64
                    else replicate (i64.sum ks) 0 with [i] = 7)
