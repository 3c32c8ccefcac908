-- Logic, and that `&&` and `||` do not look at the right side when the left decides.
-- ==
-- entry: table
-- input { true false }
-- output { [false, true, true, false] }
-- input { true true }
-- output { [true, true, false, true] }

-- ==
-- entry: guarded
-- input { [1, 2, 3] 5i64 }
-- output { false }
-- input { [1, 2, 3] 2i64 }
-- output { true }

-- ==
-- entry: either
-- input { [0] 9i64 }
-- output { true }

entry table (a: bool) (b: bool) = [a && b, a || b, a != b, a == b]
entry guarded (xs: []i32) (i: i64) = i < length xs && xs[i] == 3
entry either (xs: []i32) (i: i64) = i >= length xs || xs[i] == 3
