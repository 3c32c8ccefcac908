-- Updating arrays that nobody else uses.
-- ==
-- entry: one
-- input { [1, 2, 3] 1i64 9 }
-- output { [1, 9, 3] }

-- ==
-- entry: row
-- input { [[1, 2], [3, 4]] 0i64 [8, 9] }
-- output { [[8, 9], [3, 4]] }

-- ==
-- entry: slice
-- input { [1, 2, 3, 4, 5] [8, 9] }
-- output { [1, 8, 9, 4, 5] [8, 2, 9, 4, 5] }

-- ==
-- entry: let_with
-- input { [1, 2, 3] }
-- output { [4, 2, 9] }

-- ==
-- entry: original_kept
-- input { [1, 2, 3] }
-- output { [1, 2, 3] [0, 2, 3] }

entry one (xs: *[]i32) (i: i64) (v: i32) = xs with [i] = v
entry row [m] (xss: *[][m]i32) (i: i64) (v: [m]i32) = xss with [i] = v

entry slice (xs: []i32) (v: [2]i32) = (copy xs with [1:3] = v, copy xs with [0:3:2] = v)

entry let_with (xs: *[]i32) =
  let xs[0] = xs[0] + 3
  let xs[2] = xs[2] * xs[2]
  in xs

entry original_kept (xs: []i32) = (xs, copy xs with [0] = 0)
