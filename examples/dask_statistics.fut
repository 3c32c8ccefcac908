-- Statistics of a data set in partitions: what each one gives, and how two of these become one.
-- ==
-- entry: main
-- input { [1f32, 4f32, 2f32] [9f32] }
-- output { 4i64 1f32 9f32 16f64 }

type summary = {count: i64, low: f32, high: f32, sum: f64}

-- | Of one partition.
entry summary [n] (xs: [n]f32): summary =
  { count = n,
    low = f32.minimum xs,
    high = f32.maximum xs,
    sum = f64.sum (map f64.f32 xs) }

-- | Of two partitions together.
entry both (a: summary) (b: summary): summary =
  { count = a.count + b.count,
    low = f32.min a.low b.low,
    high = f32.max a.high b.high,
    sum = a.sum + b.sum }

-- | How many elements are in each of `bins` equal parts of the range that a summary tells.
entry histogram [n] (bins: i64) (low: f32) (high: f32) (xs: [n]f32): []i64 =
  let scale = f32.i64 bins / (high - low)
  let bin (x: f32) = i64.min (bins - 1) (i64.f32 ((x - low) * scale))
  in hist (+) 0 bins (map bin xs) (replicate n 1)

entry add [n] (a: [n]i64) (b: [n]i64): [n]i64 = map2 (+) a b

entry main (xs: []f32) (ys: []f32): (i64, f32, f32, f64) =
  let s = both (summary xs) (summary ys)
  in (s.count, s.low, s.high, s.sum)
