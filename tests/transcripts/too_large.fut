-- Calls that fail for their sizes, beside values that stay as they are.
entry fold (xs: []i32) (n: i64) (m: i64) : [n][m]i32 = unflatten (xs :> [n * m]i32)
entry rows (n: i64) (m: i64) : [][]i32 = map (\_ -> scan (+) 0 (replicate m 1)) (iota n)
entry count (first: i64) (last: i64) : i64 = length (first...last)
entry every (xs: []i32) (step: i64) : []i32 = xs[0:2:step]
