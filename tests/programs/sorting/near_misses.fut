-- What looks like a partition or a radix sort, and is none, or another one.
-- ==
-- entry: all_from_the_start without_one reversed of_more
-- input { [5u32, 2u32, 7u32, 4u32, 4u32, 1u32, 0u32] } auto output
-- input { [3u32] } auto output
-- input { empty([0]u32) } auto output

-- ==
-- entry: of_other_counts by_two_conditions
-- input { [3u32, 0u32, 7u32, 3u32, 8u32] } auto output
-- input { empty([0]u32) } auto output

-- ==
-- entry: from_the_highest with_a_gap with_an_overlap one_turn_less by_what_changes
-- input { [5u32, 2u32, 4000000007u32, 4u32, 70004u32, 1u32, 0u32] } auto output
-- input { empty([0]u32) } auto output

-- ==
-- entry: then_written_to
-- input { [5u32, 2u32, 7u32] } auto output

def flag (x: u32) = i64.u32 (x & 1)

-- Both classes begin at 0.
entry all_from_the_start [n] (xs: [n]u32) : [n]u32 =
  let ones = scan (+) 0 (map flag xs)
  let zeros = scan (+) 0 (map (\x -> 1 - flag x) xs)
  in reduce_by_index (replicate n 0) (+) 0 (map3 (\x k l -> (if flag x == 1 then k else l) - 1) xs ones zeros) xs

-- The first element of the first class is left out.
entry without_one [n] (xs: [n]u32) : [n]u32 =
  let ones = scan (+) 0 (map flag xs)
  let total = i64.sum (map flag xs)
  in scatter (replicate n 9) (map3 (\x i k -> if flag x == 1 then k - 2 else total + i - k) xs (iota n) ones) xs

-- Elements of one class stand in the opposite order.
entry reversed [n] (xs: [n]u32) : [n]u32 =
  let ones = scan (+) 0 (map flag xs)
  let total = i64.sum (map flag xs)
  in scatter (replicate n 0) (map3 (\x i k -> if flag x == 1 then total - k else total + i - k) xs (iota n) ones) xs

entry of_other_counts [n] (xs: [n]u32) : [n]u32 =
  let ones = scan (+) 0 (map (\x -> flag (x >> 1)) xs)
  let total = i64.sum (map flag xs)
  in scatter (replicate n 0) (map3 (\x i k -> if flag x == 1 then k - 1 else total + i - k) xs (iota n) ones) xs

-- Small ones and large ones, of which there may be too few.
entry by_two_conditions [n] (xs: [n]u32) : [n]u32 =
  let small = scan (+) 0 (map (\x -> i64.bool (x < 4)) xs)
  let large = scan (+) 0 (map (\x -> i64.bool (x > 4)) xs)
  let total = i64.sum (map (\x -> i64.bool (x < 4)) xs)
  in scatter (replicate n 9) (map3 (\x k l -> if x < 4 then k - 1 else total + l - 1) xs small large) xs

-- There is room for twice as many.
entry of_more [n] (xs: [n]u32) : []u32 =
  let ones = scan (+) 0 (map flag xs)
  let total = i64.sum (map flag xs)
  in scatter (replicate (2 * n) 9) (map3 (\x i k -> if flag x == 1 then k - 1 else total + i - k) xs (iota n) ones) xs

def by_bit [n] (bit: u32 -> i64) (xs: [n]u32) : [n]u32 =
  let ones = scan (+) 0 (map bit xs)
  let total = i64.sum (map bit xs)
  in scatter (replicate n 0) (map3 (\x i k -> if bit x == 1 then n - total + k - 1 else i - k) xs (iota n) ones) xs

entry from_the_highest [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 32 do by_bit (\x -> flag (x >> u32.i32 (31 - i))) xs
entry with_a_gap [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 16 do by_bit (\x -> flag (x >> u32.i32 (2 * i))) xs
entry with_an_overlap [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 16 do by_bit (\x -> flag (x >> u32.i32 (i / 2))) xs
entry one_turn_less [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 31 do by_bit (\x -> flag (x >> u32.i32 i)) xs
entry by_what_changes [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 32 do map (+ 1) (by_bit (\x -> flag (x >> u32.i32 i)) xs)

-- What decides was made of an array that is another one since.
entry then_written_to [n] (xs: *[n]u32) : ([n]i64, [n]u32) =
  let ones = scan (+) 0 (map flag xs)
  let total = i64.sum (map flag xs)
  let bits = map flag xs
  let xs = scatter xs (iota n) (map (+ 1) xs)
  let place b i k = if b == 1 then k - 1 else total + i - k
  in (scatter (replicate n 0) (map3 place bits (iota n) ones) (iota n), xs)
