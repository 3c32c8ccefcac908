-- Division by zero is an error everywhere.
-- ==
-- entry: scalar
-- input { 7 2 }
-- output { 3 1 3 1 }
-- input { 7 0 }
-- error: division by zero

-- ==
-- entry: in_map
-- input { [1, 2] [1, 2] }
-- output { [1, 1] }
-- input { [1, 2] [1, 0] }
-- error: division by zero

-- ==
-- entry: in_reduce
-- input { [8, 0] }
-- error: division by zero

-- ==
-- entry: guarded
-- input { 0 }
-- output { 0 }
-- input { 2 }
-- output { 5 }

-- ==
-- entry: exponent
-- input { 2 -1 }
-- error: negative exponent

entry scalar (x: i32) (y: i32) = (x / y, x % y, x // y, x %% y)
entry in_map [n] (xs: [n]i32) (ys: [n]i32) = map2 (/) xs ys
entry in_reduce (xs: []i32) = i32.sum (map (100 %) xs)
entry guarded (x: i32) = if x == 0 then 0 else 10 / x
entry exponent (x: i32) (y: i32) = x ** y
