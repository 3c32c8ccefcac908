-- Ranges that run the wrong way.
-- ==
-- entry: up
-- input { 2 5 }
-- output { [2, 3, 4] }
-- input { 2 2 }
-- output { empty([0]i32) }
-- input { 5 1 }
-- error: Range 5..<1 is invalid

-- ==
-- entry: stepped
-- input { 0 2 6 }
-- output { [0, 2, 4] }
-- input { 5 4 10 }
-- error: Range 5..4..<10 is invalid
-- input { 5 5 10 }
-- error: Range 5..5..<10 is invalid

-- ==
-- entry: counting
-- input { -2i64 }
-- error: Range 0..1..<-2 is invalid

entry up (a: i32) (b: i32) = a..<b
entry stepped (a: i32) (b: i32) (c: i32) = a..b..<c
entry counting (n: i64) = iota n
