-- Streams: functions that write to an accumulator as often as they like. Writes outside of the array
-- are ignored; of the writes of one element to a place, the last one stays.

type~ acc 't = intrinsics.acc t

def write [n] 't (acc: *acc ([n]t)) (i: i64) (v: t) : *acc ([n]t) = intrinsics.acc_write acc i v

def into [k] 'a 'b (dest: *[k]a) (f: *acc ([k]a) -> b -> acc ([k]a)) (bs: []b) : *[k]a =
  intrinsics.scatter_stream dest f bs

def combined [k] 'a 'b
             (dest: *[k]a)
             (op: a -> a -> a)
             (ne: a)
             (f: *acc ([k]a) -> b -> acc ([k]a))
             (bs: []b) : *[k]a =
  intrinsics.hist_stream dest op ne f bs

-- No write at all, and one that is never in bounds.
-- ==
-- entry: idle
-- input { [1, 2, 3] }
-- output { [1, 2, 3] [1, 2, 3] }
-- input { empty([0]i32) }
-- output { empty([0]i32) empty([0]i32) }
entry idle [n] (xs: [n]i32) =
  ( into (copy xs) (\(acc: *acc ([n]i32)) _ -> acc) (iota 4)
  , combined (copy xs) (+) 0 (\(acc: *acc ([]i32)) i -> write acc (if i < 2 then -1 - i else n + i) 1)
             (iota 4)
  )

-- In one branch only, in both, and in branches of different lengths. The second write of an element
-- replaces its first one.
-- ==
-- entry: branches
-- input { [0i64, 1i64, 2i64, 3i64, 4i64, 5i64] }
-- output { [0, 0, 102, 0, 104, 0] [2, 4, 2, 3, 1, 2] [7, 11, 2, 13, 4, 15] }
entry branches [n] (is: [n]i64) =
  let even (acc: *acc ([n]i32)) i = if i % 2 == 0 && i > 0 then write acc i (100 + i32.i64 i) else acc
  let counts (acc: *acc ([n]i32)) i =
    let acc = if i % 2 == 1 then write (write acc i 1) (i - 2) 1 else write acc (i / 2) 1
    in write acc i 1
  let replaced (acc: *acc ([n]i32)) i =
    let acc = write acc i (i32.i64 i)
    in match i case 0 -> write (write acc i 6) i 7
               case 2 -> acc
               case 4 -> acc
               case _ -> write acc i (10 + i32.i64 i)
  in ( into (replicate n 0) even is
     , combined (replicate n 0) (+) 0 counts is
     , into (replicate n 0) replaced is
     )

-- Numbers of writes that loops decide; places that many elements write to; while loops.
-- ==
-- entry: loops
-- input { [3i64, 0i64, 5i64, 1i64] }
-- output { [3i64, 2i64, 2i64, 1i64, 1i64, 0i64] [0i64, 0i64, 1i64, 0i64, 2i64, 0i64] [11i64] }
-- input { [0i64, 0i64] }
-- output { [0i64, 0i64, 0i64, 0i64, 0i64, 0i64] [0i64, 0i64, 0i64, 0i64, 0i64, 0i64] [0i64] }
-- input { empty([0]i64) }
-- output { [0i64, 0i64, 0i64, 0i64, 0i64, 0i64] [0i64, 0i64, 0i64, 0i64, 0i64, 0i64] [0i64] }
entry loops (ns: []i64) =
  let upto (acc: *acc ([]i64)) n = loop acc for i < n do write acc i 1
  -- Down from n - 1 to the half of it, each time to the same place.
  let halves (acc: *acc ([]i64)) n =
    let (acc, _) = loop (acc, i) = (acc, n) while i > n / 2 do (write acc (n - 1) (i - 1), i - 1)
    in acc
  let nested (acc: *acc ([1]i64)) n =
    loop acc for i in iota n do if i % 2 == 0 then loop acc for _j < i do write acc 0 1 else acc
  in ( combined (replicate 6 0) (+) 0 upto ns
     , into (replicate 6 0) halves ns
     , combined [0] (+) 0 (\(acc: *acc ([1]i64)) n -> write (nested acc n) 0 (i64.sgn n)) ns
     )

-- Elements of other shapes: numbers of all sizes, tuples, rows, records of rows. The operators: known
-- ones, one that takes the larger in the order of tuples, ones on rows.
-- ==
-- entry: elements
-- input { [1i8, 2i8, 3i8, 4i8] }
-- output { [100i8, 0i8] [1f16, 2f16, 3f16, 4f16] [true, true] [4i64, 3i64] [4i8, 3i8]
--          [[6i8, 3i8], [4i8, 2i8]] [[4i8, 4i8], [3i8, 3i8]] }
entry elements [n] (xs: [n]i8) =
  let place (x: i8) = i64.i8 x % 2
  let tens (acc: *acc ([]i8)) x = write (write acc 0 (x * 6)) 0 (x * 4)
  let halves (acc: *acc ([n]f16)) x = write acc (i64.i8 x - 1) (f16.i8 x)
  let later (t, a) (u, b) : (i64, i8) = if t < u || t == u && a < b then (u, b) else (t, a)
  let times (acc: *acc ([](i64, i8))) x = write acc (place x) (i64.i8 x, x)
  let sums (acc: *acc ([][2]i8)) x = write acc (place x) [x, 1]
  let rows (acc: *acc ([]{v: [2]i8})) x = write acc (place x) {v = replicate 2 x}
  let largest (a: {v: [2]i8}) (b: {v: [2]i8}) = {v = map2 i8.max a.v b.v}
  let (ts, ms) = unzip (combined (replicate 2 (-1, 0)) later (-1, 0) times xs)
  let vs = combined (replicate 2 {v = replicate 2 0}) largest {v = replicate 2 i8.lowest} rows xs
  in ( combined [0, 0] (+) 0 tens xs
     , into (replicate n 0) halves xs
     , combined [true, false] (||) false (\(acc: *acc ([]bool)) x -> write acc (place x) (x > 1)) xs
     , ts
     , ms
     , combined [[0, 1], [0, 0]] (map2 (+)) [0, 0] sums xs
     , map (.v) vs
     )

-- The sum of the numbers below n, by a stream inside of a stream.
def add_below (acc: *acc ([3]i64)) n =
  let inner = combined (replicate 1 0) (+) 0 (\(acc: *acc ([1]i64)) i -> write acc 0 i) (iota n)
  in write acc 0 inner[0]

-- In maps: as many writes as can be told, and as many as loops make; streams in streams.
-- ==
-- entry: nested
-- input { [2i64, 0i64, 3i64] }
-- output { [[2, 5, 7, 7], [7, 7, 7, 7], [3, 3, 5, 7]] [[2, 1, 0], [0, 0, 0], [3, 2, 1]] [7i64, 0i64, 0i64] }
entry nested (ns: []i64) =
  let both (n: i64) (acc: *acc ([]i32)) i =
    if i < n then write (write acc i 5) (i - 1) (i32.i64 n) else acc
  let upto (acc: *acc ([3]i32)) n = loop acc for i < n do write acc i 1
  let fixed n = into (replicate 4 7) (both n) (iota 3)
  let looping n = combined (replicate 3 0) (+) 0 upto (map (\i -> n - i) (iota n))
  let twice (acc: *acc ([3]i64)) n = write (add_below acc n) 0 (i64.bool (n == 3) * 3)
  in (map fixed ns, map looping ns, combined [0, 0, 0] (+) 0 twice ns)

-- What is written depends on variables outside, and an index out of bounds fails the call.
-- ==
-- entry: outside
-- input { [10, 20, 30] [2i64, 0i64, 2i64] }
-- output { [10, 0, 60] }
-- input { [10, 20, 30] [2i64, 3i64, 2i64] }
-- error: Index \[3\] out of bounds for array of shape \[3\]
entry outside [n] (xs: [n]i32) (is: [n]i64) =
  combined (replicate n 0) (+) 0 (\(acc: *acc ([n]i32)) i -> write acc i xs[i]) is

-- ==
-- entry: derivatives
-- input { [1.0, 2.0, 3.0] [0i64, 1i64, 1i64] }
-- output { [1.0, 13.0, 0.0] [2.0, 12.0, 18.0] [[2.0, 0.0], [4.0, 4.0], [6.0, 6.0]] }
entry derivatives [n] (xs: [n]f64) (is: [n]i64) =
  let squares (xs: [n]f64) =
    combined (replicate n 0) (+) 0 (\(acc: *acc ([n]f64)) (i, x) -> write acc i (x * x)) (zip is xs)
  let repeated (xs: [n]f64) =
    combined (replicate 2 0) (+) 0
             (\(acc: *acc ([2]f64)) (i, x) -> loop acc for k < 2 do if k <= i then write acc k x else acc)
             (zip is (map (\x -> x * x) xs))
  let seeds = map (\i -> map (\k -> f64.bool (i == k)) (iota 2)) (iota 2)
  in (squares xs, vjp squares xs (map f64.i64 (map (+ 1) (indices xs)) with [1] = 3), transpose (map (vjp repeated xs) seeds))
