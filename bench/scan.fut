-- Prefix sums, plain and segmented.
-- ==
-- entry: prefix_sums
-- random input { [1000]i32 } auto output
-- random input { [1000000]i32 }
-- random input { [67108864]i32 }

-- ==
-- entry: segmented_sums
-- random input { [1000]bool [1000]i32 } auto output
-- random input { [10000000]bool [10000000]i32 }

-- ==
-- entry: row_scans
-- random input { [100][100]i32 } auto output
-- random input { [10000][1000]i32 }

entry prefix_sums (xs: []i32) : []i32 = scan (+) 0 xs

entry segmented_sums [n] (flags: [n]bool) (xs: [n]i32) : [n]i32 =
  let add (x, f) (y, g) = (if g then y else x + y, f || g)
  in map (.0) (scan add (0, false) (zip xs flags))

entry row_scans (xss: [][]i32) : [][]i32 = map (scan (+) 0) xss
