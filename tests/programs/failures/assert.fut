-- Assertions print their condition as it was written.
-- ==
-- entry: even
-- input { 4 }
-- output { 2 }
-- input { 5 }
-- error: Assertion is false: \(x % 2 == 0\)

-- ==
-- entry: in_map
-- input { [1, 2] }
-- output { [2, 4] }
-- input { [1, -2] }
-- error: Assertion is false: \(x > 0\)

-- ==
-- entry: in_function
-- input { [1.0, 2.0] }
-- output { 1.5 }
-- input { empty([0]f64) }
-- error: Assertion is false: \(n > 0\)

entry even (x: i32) = assert (x%2==0) (x / 2)
entry in_map (xs: []i32) = map (\x -> assert (x > 0) (2 * x)) xs

def mean [n] (xs: [n]f64) : f64 = assert (n > 0) (f64.sum xs / f64.i64 n)

entry in_function (xs: []f64) = mean xs
