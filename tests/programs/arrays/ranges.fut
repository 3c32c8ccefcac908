-- Ranges in every form and type.
-- ==
-- entry: forms
-- input { 5i64 }
-- output { [0i64, 1i64, 2i64, 3i64, 4i64] [0i64, 1i64, 2i64, 3i64, 4i64, 5i64] [5i64, 4i64, 3i64] }

-- ==
-- entry: steps
-- input { 10 }
-- output { [0, 3, 6, 9] [1, 3, 5, 7, 9] [10, 8, 6, 4, 2] }

-- ==
-- entry: empty
-- input { }
-- output { empty([0]i32) [7] }

-- ==
-- entry: small_type
-- input { }
-- output { [250u8, 252u8, 254u8] }

entry forms (n: i64) = (0..<n, 0...n, n..>2)
entry steps (n: i32) = (0..3..<n, 1..3...n, n..n-2..>0)
entry empty : ([]i32, []i32) = (0..<0, 7...7)
entry small_type : []u8 = 250..252...254
