-- Sums of floats by histograms: few bins, more than shared memory has room for, rows, vectors, and what
-- floats have besides numbers. Sums are of whole numbers, so that no order changes them.
-- ==
-- entry: special
-- input { } output { [f32.nan, f32.inf, f32.nan, 0f32, 3f32] }
-- entry: check_f32
-- input { 20i64 5000i64 } output { true }
-- input { 70000i64 100000i64 } output { true }
-- entry: check_f64
-- input { 20i64 5000i64 } output { true }
-- input { 70000i64 100000i64 } output { true }
-- entry: rows
-- input { [[0i64, 1i64, 0i64], [1i64, 1i64, 7i64]] } output { [[3.5f32, -1f32], [0f32, 1.5f32]] }
-- entry: vectors
-- input { [1i64, 0i64, 1i64, 2i64] } output { [[2f32, 4f32, 6f32], [4f32, 8f32, 12f32]] }
-- entry: not_sums
-- input { [0i64, 1i64, 0i64] [2f32, 3f32, 5f32] } output { [10f32, 3f32] [5f32, 3f32] }

entry special: []f32 =
  hist (+) 0 5 [0, 1, 2, 2, 1, 3, 4, 4]
       [f32.nan, f32.inf, f32.inf, -f32.inf, 1, -0.0, 1, 2]

-- Element i, which is i mod 64, goes to bin 7 i mod k. Sums of integers say what is right.
def keys (k: i64) (n: i64): [n]i64 = tabulate n (\i -> i * 7 % k)
def numbers (n: i64): [n]i64 = tabulate n (% 64)

entry check_f32 (k: i64) (n: i64): bool =
  let sums = hist (+) 0f32 k (keys k n) (map f32.i64 (numbers n))
  in and (map2 (\x y -> x == f32.i64 y) sums (hist (+) 0 k (keys k n) (numbers n)))

entry check_f64 (k: i64) (n: i64): bool =
  let sums = hist (+) 0f64 k (keys k n) (map f64.i64 (numbers n))
  in and (map2 (\x y -> x == f64.i64 y) sums (hist (+) 0 k (keys k n) (numbers n)))

entry rows [m] [n] (iss: [m][n]i64): [m][2]f32 =
  let x r j = if r == 0 then [3, -1, 0.5][j % 3] else [1, 0.5, 9][j % 3]
  in map2 (\is r -> hist (+) 0 2 is (tabulate n (x r))) iss (iota m)

entry vectors [n] (is: [n]i64): [2][3]f32 =
  hist (map2 (+)) (replicate 3 0) 2 is
       (tabulate_2d n 3 (\i j -> f32.i64 ((i + 1) * (j + 1))))

entry not_sums (is: [3]i64) (xs: [3]f32): ([2]f32, [2]f32) =
  (hist (*) 1 2 is xs, hist f32.max (-f32.inf) 2 is xs)
