-- The three basic shapes of parallel work, for measuring throughput.
-- ==
-- entry: map_i32
-- input { [1, 2, 3] }
-- output { [5, 8, 11] }
-- input { empty([0]i32) }
-- output { empty([0]i32) }

-- ==
-- entry: reduce_i32
-- input { [1, 2, 3, 4] }
-- output { 10 }
-- input { [2147483647, 1] }
-- output { -2147483648 }
-- input { empty([0]i32) }
-- output { 0 }

-- ==
-- entry: scan_i32
-- input { [1, 2, 3, 4] }
-- output { [1, 3, 6, 10] }
-- input { [5, -5, 7] }
-- output { [5, 0, 7] }

-- ==
-- entry: map_i32 reduce_i32 scan_i32
-- notest random input { [10000000]i32 }

entry map_i32 [n] (xs: [n]i32) : [n]i32 = map (\x -> 3 * x + 2) xs

entry reduce_i32 [n] (xs: [n]i32) : i32 = reduce (+) 0 xs

entry scan_i32 [n] (xs: [n]i32) : [n]i32 = scan (+) 0 xs
