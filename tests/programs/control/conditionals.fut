-- if as an expression, nested and with arrays.
-- ==
-- entry: sign
-- input { -3 }
-- output { -1 }
-- input { 0 }
-- output { 0 }
-- input { 8 }
-- output { 1 }

-- ==
-- entry: arrays
-- input { true [1, 2] }
-- output { [2, 1] }
-- input { false [1, 2] }
-- output { [1, 2] }

-- ==
-- entry: sizes
-- input { true 3i64 }
-- output { [0i64, 1i64, 2i64] }
-- input { false 3i64 }
-- output { empty([0]i64) }

entry sign (x: i32) = if x < 0 then -1i32 else if x == 0 then 0 else 1
entry arrays [n] (back: bool) (xs: [n]i32) = if back then reverse xs else xs
entry sizes (b: bool) (n: i64) : []i64 = if b then iota n else []
