-- Partitions: in three parts around a pivot by prefix sums, and by the built-in `partition`.
-- ==
-- entry: three_parts two_parts
-- script input { make_partition 100i64 1i64 } auto output

-- ==
-- entry: check_partition
-- input { 1000i64 1i64 } output { true }

import "../random"

entry make_partition (n: i64) (seed: i64) : ([n]i32, i32) =
  (tabulate n (\i -> i32.u32 (random_u32 seed i % 1000)), 500)

-- | The elements below, equal to and above the pivot, each in their order, and where parts begin.
entry three_parts [n] (xs: [n]i32) (pivot: i32) : ([n]i32, i64, i64) =
  let mark x = (i64.bool (x < pivot), i64.bool (x == pivot))
  let plus (a, b) (c, d) = (a + c, b + d)
  let counts = scan plus (0, 0) (map mark xs)
  let (below, equal) = if n == 0 then (0, 0) else last counts
  let place i x (b, e) =
    if x < pivot then b - 1
    else if x == pivot then below + e - 1
    else below + equal + i - b - e
  in (scatter (replicate n 0) (map3 place (iota n) xs counts) xs, below, below + equal)

entry two_parts [n] (xs: [n]i32) (pivot: i32) : ([]i32, []i32) =
  partition (< pivot) xs

entry check_partition (n: i64) (seed: i64) : bool =
  let (xs, pivot) = make_partition n seed
  let (ys, equal, above) = three_parts xs pivot
  let (small, rest) = two_parts xs pivot
  in and (map2 (==) (small :> [equal]i32) (take equal ys))
     && all (== pivot) (ys[equal:above])
     && and (map2 (==) (filter (> pivot) rest :> [n - above]i32) (drop above ys :> [n - above]i32))
