-- What is not reached does not fail.
-- ==
-- entry: branch
-- input { [1, 2] 1i64 }
-- output { 2 }
-- input { [1, 2] 2i64 }
-- output { 0 }

-- ==
-- entry: loop_body
-- input { [1, 2] 0 }
-- output { 0 }
-- input { [1, 2] 2 }
-- output { 3 }
-- input { [1, 2] 3 }
-- error: Index \[2\] out of bounds

-- ==
-- entry: empty_map
-- input { empty([0]i64) [1] }
-- output { empty([0]i32) }

entry branch (xs: []i32) (i: i64) = if i < length xs then xs[i] else 0
entry loop_body (xs: []i32) (n: i32) = loop s = 0 for i < n do s + xs[i]
entry empty_map (is: []i64) (xs: []i32) = map (\i -> xs[i + 5]) is
