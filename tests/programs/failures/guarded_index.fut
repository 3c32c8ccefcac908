-- Indices that a condition around them keeps in bounds need no check; others keep theirs, however
-- near they come.
-- ==
-- entry: neighbours
-- input { [1, 2, 4, 8, 16] }
-- output { [0, 5, 10, 20, 0] }
-- input { [7] }
-- output { [0] }
-- input { empty([0]i32) }
-- output { empty([0]i32) }

-- ==
-- entry: two_on
-- input { [1, 2, 4] 0i64 }
-- output { [0, 0, 0] }
-- input { [1, 2, 4] 2i64 }
-- error: Index \[3\] out of bounds for array of shape \[3\]

-- ==
-- entry: below
-- input { [5, 6, 7] 3i64 }
-- output { [7, 5, 6] }
-- input { [5, 6, 7] 4i64 }
-- error: Index \[3\] out of bounds for array of shape \[3\]

-- ==
-- entry: mirrored
-- input { [5, 6, 7] 0i64 }
-- output { [7, 6, 5] }
-- input { [5, 6, 7] 1i64 }
-- error: Index \[3\] out of bounds for array of shape \[3\]

-- ==
-- entry: may_wrap
-- input { [5, 6, 7] [0i64, 2i64, 9223372036854775807i64] 2i64 }
-- output { [6, 7, 0] }
-- input { [5, 6, 7] [0i64, 9223372036854775806i64] 9223372036854775807i64 }
-- error: out of bounds for array of shape \[3\]
-- input { [5, 6, 7] [9223372036854775807i64] -9223372036854775808i64 }
-- error: Index \[-9223372036854775808\] out of bounds for array of shape \[3\]

-- ==
-- entry: narrow
-- input { [5, 6, 7] [0, 1, 2] }
-- output { [7, 5, 6] }
-- input { [5, 6, 7] [2, 2147483647] }
-- error: Index \[-2147483648\] out of bounds for array of shape \[3\]

entry neighbours [n] (xs: [n]i32) : [n]i32 =
  tabulate n (\i -> if 0 < i && i < n - 1 then xs[i - 1] + xs[i + 1] else 0)

-- The condition is for one place, the index one further.
entry two_on [n] (xs: [n]i32) (from: i64) : [n]i32 =
  tabulate n (\i -> if i < n - 1 && i >= n - from then xs[i + 2] else 0)

-- Places before the first are meant from the end; only k places of these there are.
entry below [n] (xs: [n]i32) (k: i64) : [n]i32 =
  tabulate n (\i -> if i == 0 then xs[k - 1] else xs[i - 1])

entry mirrored [n] (xs: [n]i32) (by: i64) : [n]i32 =
  tabulate n (\i -> if by == 0 then xs[n - 1 - i] else xs[n - i])

-- i + 1 wraps where i is the largest number, which is below no limit but above most.
entry may_wrap (xs: []i32) (is: []i64) (limit: i64) : []i32 =
  map (\i -> if i < limit then xs[i + 1] else if i == i64.highest && limit < 0 then xs[i + 1]
             else if i == limit then xs[i] else 0)
      is

entry narrow (xs: []i32) (is: []i32) : []i32 =
  map (\i -> if i > 0 && i != 2147483647 then xs[i - 1] else if i > 0 then xs[i + 1] else xs[2])
      is

-- ==
-- entry: halves
-- input { [1, 2, 3, 4, 5] 2i64 }
-- output { [3, 7] }
-- input { [1, 2, 3, 4] 2i64 }
-- output { [3, 7] }
-- input { [1, 2, 3, 4] 3i64 }
-- error: Index \[4\] out of bounds for array of shape \[4\]
-- input { [1] 0i64 }
-- output { empty([0]i32) }

-- ==
-- entry: chunks
-- input { [1, 2, 3, 4, 5, 6, 7] 2i64 }
-- output { [6, 6, 6, 15, 15, 15, 7] }
-- input { [1, 2, 3, 4, 5, 6, 7] 3i64 }
-- error: Index \[3\] out of bounds for array of shape \[3\]
-- input { empty([0]i32) 2i64 }
-- output { empty([0]i32) }

-- Pairs of neighbours, of which there are half as many; `k` says how many are asked for.
entry halves (xs: []i32) (k: i64) : []i32 =
  let n = length xs
  in if k <= n / 2 then tabulate (n / 2) (\i -> xs[2 * i] + xs[2 * i + 1])
     else tabulate k (\i -> xs[2 * i] + xs[2 * i + 1])

-- Sums of three each, and for each element that of its chunk, or of the next one.
entry chunks (xs: []i32) (k: i64) : []i32 =
  let n = length xs
  let sums = tabulate ((n + 2) / 3) (\c -> i32.sum (map (\j -> if c * 3 + j < n then xs[c * 3 + j] else 0) (iota 3)))
  in map (\i -> if k == 2 then sums[i / 3] else sums[(i + 3) / 3]) (iota n)

-- ==
-- entry: narrow_multiples
-- input { 100000000000i64 [1, 268435455, 268435456, -1] }
-- output { [8, 2147483640, -1, 0] }

-- ==
-- entry: narrow_place
-- input { 200i64 5i8 }
-- output { 21 }
-- input { 200i64 40i8 }
-- error: Index \[-96\] out of bounds for array of shape \[200\]

-- What is below an eighth of n, eight times, is below n: but it may not fit.
entry narrow_multiples (n: i64) (is: []i32) : []i32 =
  map (\i -> if i >= 0 && i64.i32 i < n / 8 then (if i * 8 < 0 then -1 else i * 8) else 0) is

entry narrow_place (n: i64) (i: i8) : i32 =
  let xs = opaque (map (\j -> 1 + i32.i64 j) (iota n))
  in if i >= 0 && i64.i8 i < n / 4 then xs[i64.i8 (i * 4)] else 0
