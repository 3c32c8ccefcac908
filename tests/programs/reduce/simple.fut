-- Sums, products, extremes and other reductions.
-- ==
-- entry: sums
-- input { [1, 2, 3, 4] }
-- output { 10 24 4 1 }
-- input { empty([0]i32) }
-- output { 0 1 -2147483648 2147483647 }

-- ==
-- entry: floats
-- input { [0.5f32, 1.5f32, 3.0f32] }
-- output { 5.0f32 3.0f32 }

-- ==
-- entry: logic
-- input { [true, true, false] }
-- output { false true }
-- input { empty([0]bool) }
-- output { true false }

-- ==
-- entry: big
-- input { 1000000i64 }
-- output { 499999500000i64 }

-- ==
-- entry: many_sizes
-- input { }
-- output { true }

entry sums (xs: []i32) = (i32.sum xs, i32.product xs, i32.maximum xs, i32.minimum xs)
entry floats (xs: []f32) = (f32.sum xs, f32.maximum xs)
entry logic (bs: []bool) = (and bs, or bs)
entry big (n: i64) = reduce (+) 0 (iota n)

-- Around the sizes where work is divided.
entry many_sizes =
  loop ok = true
  for n in [1i64, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4097] do
    ok && i64.sum (iota n) == n * (n - 1) / 2
