-- Prefix sums and other scans.
-- ==
-- entry: sums
-- input { [1, 2, 3, 4] }
-- output { [1, 3, 6, 10] [0, 1, 3, 6] }
-- input { empty([0]i32) }
-- output { empty([0]i32) empty([0]i32) }

-- ==
-- entry: maxima
-- input { [3, 1, 4, 1, 5] }
-- output { [3, 3, 4, 4, 5] }

-- ==
-- entry: products
-- input { [2.0f32, 0.5f32, 4.0f32] }
-- output { [2.0f32, 1.0f32, 4.0f32] }

-- ==
-- entry: many_sizes
-- input { }
-- output { true }

entry sums (xs: []i32) = (scan (+) 0 xs, exscan (+) 0 xs)
entry maxima (xs: []i32) = scan i32.max i32.lowest xs
entry products (xs: []f32) = scan (*) 1 xs

-- Around the sizes where work is divided.
entry many_sizes =
  loop ok = true
  for n in [1i64, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4097, 100000] do
    let ys = scan (+) 0 (iota n)
    in ok && all (\i -> ys[i] == i * (i + 1) / 2) (iota n)
