-- Sizes that are promised and not kept.
-- ==
-- entry: coerce
-- input { [1, 2, 3] 3i64 }
-- output { [1, 2, 3] }
-- input { [1, 2, 3] 4i64 }
-- error: cannot match shape of type "\[.*\]i32"

-- ==
-- entry: equal
-- input { [1, 2] [3, 4] }
-- output { [4, 6] }
-- input { [1, 2] [3] }
-- error: .

-- ==
-- entry: fold
-- input { [1, 2, 3, 4] 2i64 2i64 }
-- output { [[1, 2], [3, 4]] }
-- input { [1, 2, 3, 4] 2i64 3i64 }
-- error: .

-- ==
-- entry: update
-- input { [1, 2, 3] [7] }
-- error: .

-- ==
-- entry: literal
-- input { 2i64 3i64 }
-- error: .

entry coerce (xs: []i32) (n: i64) : [n]i32 = xs :> [n]i32
entry equal [n] (xs: [n]i32) (ys: []i32) = map2 (+) xs (ys :> [n]i32)
entry fold (xs: []i32) (n: i64) (m: i64) : [n][m]i32 = unflatten (xs :> [n * m]i32)
entry update [n] (xs: [n]i32) (ys: []i32) = copy xs with [0:2] = (ys :> [2]i32)
entry literal (n: i64) (m: i64) = [iota n, iota m :> [n]i64]
