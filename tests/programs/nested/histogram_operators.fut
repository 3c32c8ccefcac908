-- Histograms whose operator commutes without being known to.
-- ==
-- entry: parity
-- input { [0i64, 1i64, 0i64, 3i64, 0i64] } output { [true, true] }
-- input { empty([0]i64) } output { [false, false] }
-- entry: farthest
-- input { [0i64, 1i64, 0i64, 1i64] [3i32, 4i32, -5i32, 2i32] } output { [5i32, 4i32] [2i64, 1i64] }

entry parity [n] (is: [n]i64): [2]bool = hist (!=) false 2 is (replicate n true)

entry farthest [n] (is: [n]i64) (xs: [n]i32): ([2]i32, [2]i64) =
  let better (a: i32, i: i64) (b: i32, j: i64) =
    if a > b || (a == b && i < j) then (a, i) else (b, j)
  in unzip (hist better (-1, i64.highest) 2 is (zip (map i32.abs xs) (iota n)))

-- Vectors that a thread makes of a row, to be taken apart element by element.
-- ==
-- entry: ends
-- input { [[1i32, 2i32, 3i32], [4i32, 5i32, 6i32], [7i32, 8i32, 9i32]] [0i64, 1i64, 0i64] }
-- output { [[8i32, 30i32], [4i32, 15i32]] }

entry ends [n] [m] (xss: [n][m]i32) (is: [n]i64): [2][2]i32 =
  let sums = map (\xs -> let s = scan (+) 0 xs in [s[0], s[m - 1]]) xss
  in reduce_by_index (replicate 2 (replicate 2 0)) (map2 (+)) (replicate 2 0) is sums
