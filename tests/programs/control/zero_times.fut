-- Nothing fails in a map, loop or branch that runs zero times.
-- ==
-- entry: index
-- input { empty([0]i32) empty([0]i32) }
-- output { empty([0]i32) }
-- input { [1] [5] }
-- output { [6] }
-- input { [1] empty([0]i32) }
-- error: out of bounds

-- ==
-- entry: divide
-- input { empty([0]i32) 0 }
-- output { empty([0]i32) }
-- input { [1] 0 }
-- error: division by zero

-- ==
-- entry: loop_index
-- input { 0i64 empty([0]i32) }
-- output { 0 }

-- ==
-- entry: loop_divide
-- input { 0i64 empty([0]i32) 0 }
-- output { 0 }

-- ==
-- entry: branch
-- input { false empty([0]i32) }
-- output { 0 }

-- ==
-- entry: while_index
-- input { 0 empty([0]i32) }
-- output { 0 }

-- ==
-- entry: reduced
-- input { empty([0]i32) empty([0]i32) }
-- output { 0 }

-- ==
-- entry: asserted
-- input { empty([0]i32) 0 }
-- output { empty([0]i32) }
-- input { [1] 0 }
-- error: Assertion

-- ==
-- entry: nested
-- input { empty([0][2]i32) empty([0]i32) }
-- output { empty([0][2]i32) }
-- input { empty([2][0]i32) empty([0]i32) }
-- output { empty([2][0]i32) }
-- input { [[1],[2]] empty([0]i32) }
-- error: out of bounds

-- ==
-- entry: filtered
-- input { empty([0]i32) empty([0]i32) }
-- output { empty([0]i32) }

-- ==
-- entry: nested_index
-- input { empty([0][2]i32) empty([0]i32) }
-- output { empty([0][2]i32) }
-- input { empty([2][0]i32) empty([0]i32) }
-- output { empty([2][0]i32) }

-- ==
-- entry: inner_array
-- input { empty([0]i32) -1i64 }
-- output { empty([0]i64) }
-- input { [7] 3i64 }
-- output { [10i64] }
-- input { [7] -1i64 }
-- error: .

-- ==
-- entry: scattered
-- input { [1,2] empty([0]i64) 0i64 }
-- output { [1,2] }
-- input { [1,2] [0i64] 0i64 }
-- error: division

-- ==
-- entry: histogram
-- input { [1,2] empty([0]i64) 0i64 }
-- output { [1,2] }
-- input { [1,2] [0i64] 0i64 }
-- error: division

-- ==
-- entry: row_size
-- input { empty([0]i64) 0i64 }
-- output { 0i64 }
-- input { [1i64] 0i64 }
-- error: division

-- ==
-- entry: row_size_result
-- input { empty([0]i64) 0i64 }
-- output { empty([0]i64) }
-- input { [1i64] 0i64 }
-- error: division
-- input { [1i64] 2i64 }
-- output { [0i64,1i64,2i64,3i64,4i64] }

entry index [n] [m] (xs: [n]i32) (ys: [m]i32) : [n]i32 = map (\x -> x + ys[0]) xs
entry divide [n] (xs: [n]i32) (d: i32) : [n]i32 = map (\x -> x + 10 / d) xs
entry loop_index [n] (k: i64) (xs: [n]i32) : i32 = loop a = 0 for i < k do a + xs[0]
entry loop_divide [n] (k: i64) (xs: [n]i32) (d: i32) : i32 = loop a = 0 for i < k do a + 7 / d
entry branch (c: bool) (xs: []i32) : i32 = if c then xs[0] else 0
entry while_index (c: i32) (xs: []i32) : i32 = (loop a = c while a > 0 do a - 1 - xs[0])
entry reduced [n] (xs: [n]i32) (ys: []i32) : i32 = reduce (+) 0 (map (\x -> x + ys[0]) xs)
entry asserted [n] (xs: [n]i32) (k: i32) : [n]i32 = map (\x -> assert (k > 0) (x + k)) xs
entry nested [n][m] (xss: [n][m]i32) (ys: []i32) : [n][m]i32 = map (map (\x -> x + ys[5])) xss
entry filtered (xs: []i32) (ys: []i32) : []i32 = filter (\x -> x > ys[0]) xs
entry nested_index [n][m] (xss: [n][m]i32) (ys: []i32) : [n][m]i32 =
  map2 (\xs i -> map (\x -> x + ys[i]) xs) xss (iota n)
entry inner_array [n] (xs: [n]i32) (k: i64) : [n]i64 = map (\x -> i64.i32 x + i64.sum (iota k)) xs
entry scattered (xs: *[]i32) (is: []i64) (d: i64) : *[]i32 =
  scatter xs (map (\i -> i + 3 / d) is) (map (const 1i32) is)
entry histogram (xs: *[]i32) (is: []i64) (d: i64) : *[]i32 =
  reduce_by_index xs (+) 0 (map (\i -> i + 3 / d) is) (map (const 1i32) is)
entry row_size [n] (xs: [n]i64) (d: i64) : i64 =
  i64.sum (map (\x -> length (replicate (10/d) x)) xs)
entry row_size_result [n] (xs: [n]i64) (d: i64) : []i64 =
  flatten (map (\x -> map (+ (x-1)) (iota (10/d))) xs)
