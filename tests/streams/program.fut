-- Stages of every kind; streams_test.py has the same in Python.

-- Maps.
entry scale (a: i32) (xs: []i32): []i32 = map (* a) xs
entry widen (xs: []i32): []f64 = map f64.i32 xs
entry weigh (a: i32) (weights: []f64) (xs: []f64): []f64 =
  map (\x -> f64.i32 a + f64.sum (map (* x) weights)) xs
entry negate_bytes (xs: *[]i8): *[]i8 = map (\x -> -x) xs
entry both (ps: [][2]i32): []i32 = map (\p -> p[0] + p[1]) ps
entry corners (xs: []i32): [][2]i32 = map (\x -> [x, -x]) xs

-- Filters, and what makes more.
entry evens (xs: []i32): []i32 = filter (\x -> x % 2 == 0) xs
entry none (xs: []i32): []i32 = filter (const false) xs
entry twice (xs: []i32): []i32 = flatten (map (\x -> [x, x]) xs)

-- States: a scalar, an array, a tuple, a record.
entry running (sum: i32) (xs: []i32): (i32, []i32) =
  let ys = map (+ sum) (scan (+) 0 xs)
  in (if null ys then sum else last ys, ys)

-- Delayed by as many elements as the state has.
entry delay [k][n] (late: *[k]i32) (xs: [n]i32): ([]i32, []i32) =
  let all = late ++ xs
  in (drop n all, take n all)

type counter = (i64, i32)
entry count_from: counter = (100, -1)
-- Numbers the elements that differ from the one before.
entry changes (step: i64) (s: counter) (xs: *[]i32): (counter, []i64) =
  let n = length xs
  let before = map (\i -> if i == 0 then s.1 else xs[i - 1]) (iota n)
  let new = filter (\i -> xs[i] != before[i]) (indices xs)
  let numbers = map (\i -> s.0 + step * i) (indices new)
  in ((s.0 + step * length new, if n == 0 then s.1 else xs[n - 1]), numbers)

type extremes = {low: i32, high: i32}
entry widest: extremes = {low = i32.highest, high = i32.lowest}
entry span (e: extremes) (xs: []i32): (extremes, []i32) =
  let lows = map (i32.min e.low) (scan i32.min i32.highest xs)
  let highs = map (i32.max e.high) (scan i32.max i32.lowest xs)
  in ({low = i32.minimum (map (i32.min e.low) xs ++ [e.low]),
       high = i32.maximum (map (i32.max e.high) xs ++ [e.high])},
      map2 (-) highs lows)

-- The state shares memory with a result that the next stage may consume.
entry shared (s: []i32) (xs: []i32): ([]i32, []i32) =
  let both = map2 (+) xs (map (\i -> if i < length s then s[i] else 0) (indices xs))
  in (both, both)
entry overwrite (xs: *[]i32): *[]i32 = if null xs then xs else xs with [0] = 0

-- Fails at 0.
entry inverse (xs: []i32): []i32 = map (1000 /) xs

-- No stages.
entry total (xs: []i32): i32 = i32.sum xs
entry add (x: i32) (y: i32): i32 = x + y
entry lost (s: i64) (xs: []i32): (i32, []i32) = (i32.i64 s, xs)
entry three (xs: []i32): (i32, []i32, []i32) = (0, xs, xs)
entry used_up (ws: *[]i32) (xs: []i32): []i32 = ws ++ xs
entry zero: i32 = 0
