-- Maps, reductions and scans, over tuples and over inner arrays.
-- ==
-- entry: dot
-- input { [1.0f32, 2.0f32, 3.0f32] [4.0f32, 5.0f32, 6.0f32] } output { 32f32 }
-- input { empty([0]f32) empty([0]f32) } output { 0f32 }
-- random input { [100000]f32 [100000]f32 } auto output

-- ==
-- entry: largest
-- input { [3, 9, 2, 9] } output { 9 1i64 }
-- input { empty([0]i32) } output { -2147483648 0i64 }
-- random input { [100000]i32 } auto output

-- ==
-- entry: prefix
-- input { [1, 2, 3, 4] } output { [1, 3, 6, 10] [1, 2, 6, 24] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) }
-- random input { [100001]i32 } auto output

-- ==
-- entry: maximum_segment_sum
-- input { [1, -2, 3, 4, -1, 5, -6, 1] } output { 11 }
-- random input { [10000]i32 } auto output

-- ==
-- entry: matmul
-- input { [[1, 2], [3, 4]] [[5, 6], [7, 8]] } output { [[19, 22], [43, 50]] }
-- random input { [37][23]i32 [23][41]i32 } auto output

-- ==
-- entry: row_scans
-- input { [[1, 2, 3], [4, 5, 6]] } output { [[1, 3, 6], [4, 9, 15]] }
-- input { empty([0][3]i32) } output { empty([0][3]i32) }
-- random input { [100][300]i32 } auto output

entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = reduce (+) 0 (map2 (*) xs ys)

entry largest [n] (xs: [n]i32) : (i32, i64) =
  reduce (\(a, i) (b, j) -> if b > a || (b == a && j < i) then (b, j) else (a, i))
         (i32.lowest, n) (zip xs (iota n))

entry prefix (xs: []i32) : ([]i32, []i32) = (scan (+) 0 xs, scan (*) 1 xs)

-- Associative (as long as nothing overflows), not commutative.
entry maximum_segment_sum (xs: []i32) : i32 =
  let join (best, head, tail, all) (best', head', tail', all') =
    ( i32.max best (i32.max best' (tail + head'))
    , i32.max head (all + head')
    , i32.max tail' (tail + all')
    , all + all')
  in (reduce join (0, 0, 0, 0) (map (\x -> let x = x %% 1000 let y = i32.max x 0 in (y, y, y, x)) xs)).0

entry matmul [n] [m] [p] (a: [n][m]i32) (b: [m][p]i32) : [n][p]i32 =
  map (\row -> map (\column -> i32.sum (map2 (*) row column)) (transpose b)) a

entry row_scans [n] [m] (xss: [n][m]i32) : [n][m]i32 = map (scan (+) 0) xss
