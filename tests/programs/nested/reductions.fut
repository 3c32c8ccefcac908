-- A reduction or a scan of every row.
-- ==
-- entry: row_sums
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [6, 15] }
-- input { empty([0][3]i32) }
-- output { empty([0]i32) }
-- input { empty([2][0]i32) }
-- output { [0, 0] }

-- ==
-- entry: column_sums
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [5, 7, 9] }

-- ==
-- entry: row_scans
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [[1, 3, 6], [4, 9, 15]] }

-- ==
-- entry: everything
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { 21 }

entry row_sums (xss: [][]i32) = map i32.sum xss
entry column_sums (xss: [][]i32) = map i32.sum (transpose xss)
entry row_scans (xss: [][]i32) = map (scan (+) 0) xss
entry everything (xss: [][]i32) = i32.sum (map i32.sum xss)
