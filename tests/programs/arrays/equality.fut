-- Comparing values with several parts.
-- ==
-- entry: tuples
-- input { 1 2 }
-- output { false true }

-- ==
-- entry: members
-- input { [3, 1, 4] 4 }
-- output { true }
-- input { [3, 1, 4] 5 }
-- output { false }

-- ==
-- entry: same_elements
-- input { [1, 2] [1, 2] }
-- output { true }
-- input { [1, 2] [1, 3] }
-- output { false }

entry tuples (x: i32) (y: i32) = ((x, y) == (y, x), {x, y} != {x = y, y = x})
entry members (xs: []i32) (y: i32) = any (== y) xs
entry same_elements [n] (xs: [n]i32) (ys: [n]i32) = and (map2 (==) xs ys)
