-- Slices with all their parts left out or given, also backwards.
-- ==
-- entry: plain
-- input { [0, 1, 2, 3, 4, 5] 1i64 4i64 }
-- output { [1, 2, 3] [0, 1, 2, 3] [1, 2, 3, 4, 5] }
-- input { [0, 1, 2, 3, 4, 5] 3i64 3i64 }
-- output { empty([0]i32) [0, 1, 2] [3, 4, 5] }

-- ==
-- entry: strided
-- input { [0, 1, 2, 3, 4, 5, 6] }
-- output { [0, 2, 4, 6] [1, 4] [6, 4, 2, 0] [5, 4, 3] }

-- ==
-- entry: two_dims
-- input { [[1, 2, 3], [4, 5, 6], [7, 8, 9]] }
-- output { [[5, 6], [8, 9]] [2, 5, 8] [[9, 8, 7], [6, 5, 4], [3, 2, 1]] }

-- ==
-- entry: of_slices
-- input { [0, 1, 2, 3, 4, 5, 6, 7] }
-- output { [5, 3] }

-- Strides as long as an i64 can be: what is added to them must not wrap.
-- ==
-- entry: far_apart
-- input { [10, 11, 12] 0i64 2i64 9223372036854775807i64 }
-- output { [10] }
-- input { [10, 11, 12] 2i64 -1i64 -9223372036854775808i64 }
-- output { [12] }
-- input { [10, 11, 12] 2i64 0i64 -9223372036854775807i64 }
-- output { [12] }
-- input { [10, 11, 12] 0i64 9223372036854775807i64 9223372036854775807i64 }
-- output { [10] }
-- input { [10, 11, 12] 1i64 1i64 9223372036854775807i64 }
-- output { empty([0]i32) }
-- input { [10, 11, 12] 0i64 9223372036854775807i64 4611686018427387904i64 }
-- error: out of bounds for array of shape \[3\]

entry plain (xs: []i32) (i: i64) (j: i64) = (xs[i:j], xs[:j], xs[i:])
entry strided (xs: []i32) = (xs[::2], xs[1:7:3], xs[::-2], xs[5:2:-1])

entry two_dims (xss: [3][3]i32) =
  (xss[1:, 1:], xss[:, 1], xss[::-1, ::-1])

entry of_slices (xs: []i32) = xs[1:][2:7][::-2][1:3]
entry far_apart (xs: []i32) (i: i64) (j: i64) (s: i64) = xs[i:j:s]
