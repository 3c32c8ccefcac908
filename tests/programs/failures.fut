-- Failures inside kernels are reported once, with their place, and the server goes on.
-- ==
-- entry: gather
-- input { [5, 6, 7] [2i64, 0i64] } output { [7, 5] }
-- input { [5, 6, 7] [2i64, 3i64] } error: Index \[3\] out of bounds for array of shape \[3\](.|\n)*failures.fut:22
-- input { [5, 6, 7] [1i64] } output { [6] }

-- ==
-- entry: inverses
-- input { [1, 2, 4] } output { [100, 50, 25] }
-- input { [1, 0] } error: division by zero

-- ==
-- entry: checked
-- input { 4 } output { 2 }
-- input { 3 } error: Assertion is false: \(x % 2 == 0\)

-- ==
-- entry: nested
-- input { [0i64, 2i64] [[1, 2, 3], [4, 5, 6]] } output { [[1, 3], [4, 6]] }
-- input { [0i64, 5i64] [[1, 2, 3], [4, 5, 6]] } error: Index \[5\] out of bounds
entry gather (xs: []i32) (is: []i64) : []i32 = map (\i -> xs[i]) is

entry inverses (xs: []i32) : []i32 = map (100 /) xs

entry checked (x: i32) : i32 = assert (x % 2 == 0) (x / 2)

entry nested (is: []i64) (xss: [][]i32) : [][]i32 = map (\xs -> map (\i -> xs[i]) is) xss
