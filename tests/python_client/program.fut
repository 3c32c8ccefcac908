-- What the tests of the Python client call.
type point = {x: f64, y: f64}
type~ shape = #circle point f64 | #polygon ([]point) | #nothing
type^ hidden = i32 -> i32

-- | The dot product of two vectors.
--
-- Sums are rounded in any order.
entry dot [n] (xs: [n]f32) (ys: [n]f32): f32 = reduce (+) 0 (map2 (*) xs ys)

-- | One more.
entry next (x: i32): i32 = x + 1

entry add (x: i32) (y: i32): i32 = x + y
entry divide (x: i32) (y: i32): {quotient: i32, rest: i32} = {quotient = x / y, rest = x % y}
entry swap (p: (i32, bool)): (bool, i32) = (p.1, p.0)
entry at [n] (xs: [n]i32) (i: i64): i32 = xs[i]
entry scale [n] (a: f32) (xs: *[n]f32): *[n]f32 = map (* a) xs
entry iota (n: i64): [n]i32 = tabulate n i32.i64
entry table (n: i64) (m: i64): [n][m]i64 = tabulate_2d n m (\i j -> i * m + j)
entry norm (p: point): f64 = f64.sqrt (p.x * p.x + p.y * p.y)
entry points (n: i64): [n]point = tabulate n (\i -> {x = f64.i64 i, y = 2})
entry centre [n] (ps: [n]point): point =
  {x = f64.sum (map (.x) ps) / f64.i64 n, y = f64.sum (map (.y) ps) / f64.i64 n}
entry circle (x: f64) (y: f64) (r: f64): shape =
  #circle {x, y} r : #circle point f64 | #polygon ([0]point) | #nothing
entry radius (s: shape): f64 = match s case #circle _ r -> r case _ -> 0
entry corners (s: shape): i64 = match s case #polygon ps -> length ps case _ -> 0
entry total [n] (xs: [n]i64): i64 = i64.sum xs
type side = #left | #right
entry sides (n: i64): [n]side = tabulate n (\i -> if i % 2 == 0 then #left else #right)
entry lefts [n] (ss: [n]side): i64 = i64.sum (map (\s -> if s == #left then 1 else 0) ss)
-- Names that Python has other uses for.
entry put (lambda': i32) (in_: i32): i32 = lambda' - in_
entry second ((_, x): (i32, i32)): i32 = x
-- Runs for a while without memory.
entry slow (n: i32): i32 = loop x = 1 for i < n do x * 3 + i
