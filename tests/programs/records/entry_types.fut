-- Records and tuples as parameters and results of entry points.
-- ==
-- entry: divmod
-- input { 17 5 }
-- output { 3 2 }

-- ==
-- entry: three
-- input { [1, 2, 3] }
-- output { 3i64 [3, 2, 1] true }

entry divmod (x: i32) (y: i32) = (x / y, x % y)

entry three (xs: []i32) = (length xs, reverse xs, all (> 0) xs)
