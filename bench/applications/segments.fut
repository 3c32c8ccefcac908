-- Statistics of irregular segments that are given by flags: a segmented scan, then one value per segment.
-- ==
-- entry: segments
-- script input { make_segments 100i64 7i64 1i64 } auto output

-- ==
-- entry: check_segments
-- input { 1000i64 10i64 1i64 } output { true }

import "../random"

-- | n values; a segment begins at the first, and at one of `size` others.
entry make_segments (n: i64) (size: i64) (seed: i64) : ([n]f32, [n]bool) =
  (tabulate n (random_f32 (seed + 1)), tabulate n (\i -> i == 0 || random_below size seed i == 0))

type sums = {sum: f32, squares: f32, count: i32}

def add (a: sums) (b: sums) : sums =
  {sum = a.sum + b.sum, squares = a.squares + b.squares, count = a.count + b.count}

def segmented_scan [n] 't (op: t -> t -> t) (ne: t) (flags: [n]bool) (xs: [n]t) : [n]t =
  let combine (f, a) (g, b) = (f || g, if g then b else op a b)
  in map (.1) (scan combine (false, ne) (zip flags xs))

-- | Mean, variance and length of every segment.
entry segments [n] (values: [n]f32) (flags: [n]bool) : ([]f32, []f32, []i32) =
  let alone = map (\x -> {sum = x, squares = x * x, count = 1}) values
  let running = segmented_scan add {sum = 0, squares = 0, count = 0} flags alone
  let number = scan (+) 0 (map i64.bool flags)
  let total = if n == 0 then 0 else last number
  let ends = map2 (\i k -> if i == n - 1 || flags[i + 1] then k - 1 else -1) (iota n) number
  let found = scatter (replicate total {sum = 0, squares = 0, count = 0}) ends running
  let mean (s: sums) = s.sum / f32.i32 s.count
  let variance (s: sums) = s.squares / f32.i32 s.count - mean s * mean s
  in (map mean found, map variance found, map (.count) found)

-- Lengths add up, and means by lengths give the sum.
entry check_segments (n: i64) (size: i64) (seed: i64) : bool =
  let (values, flags) = make_segments n size seed
  let (means, _, lengths) = segments values flags
  let total = f32.sum (map2 (\m l -> m * f32.i32 l) means lengths)
  in i64.sum (map i64.i32 lengths) == n && f32.abs (total - f32.sum values) < 0.001 * total
