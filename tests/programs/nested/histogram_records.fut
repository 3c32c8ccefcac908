-- Histograms of records, one of which is kept in each bin, beside a loop over the elements. Where
-- nothing else decides, any of those with equal keys may be kept, but as a whole.
-- ==
-- entry: last_of_greatest first_of_smallest asks_of_doubles asks_of_longs
-- input { 0i64 5i64 } output { true }
-- input { 1i64 1i64 } output { true }
-- input { 1000i64 1i64 } output { true }
-- input { 1000i64 7i64 } output { true }
-- input { 3000i64 900i64 } output { true }
-- input { 500i64 20000i64 } output { true }
-- ==
-- entry: in_rows
-- input { 5i64 300i64 9i64 } output { true }
-- input { 0i64 4i64 9i64 } output { true }
-- input { 3i64 0i64 2i64 } output { true }

def random (i: i64): i64 =
  let x = (u32.i64 i ^ 0x5bd1e995) * 0x85ebca6b
  let y = (x ^ (x >> 13)) * 0xc2b2ae35
  in i64.u32 (y ^ (y >> 16))

-- Few different ones, so that many are equal; 0 and -0 among them.
def key (i: i64): f64 = f64.i64 (random i % 7 - 3) / 2 * (if random (i + 1) % 2 == 0 then -1 else 1)

def by_loop 'a [n] [m] (op: a -> a -> a) (bins: *[m]a) (is: [n]i64) (xs: [n]a): [m]a =
  loop bins for k < n do
    if 0 <= is[k] && is[k] < m
    then let new = op (copy bins[is[k]]) xs[k] in bins with [is[k]] = new
    else bins

def bins_of (n: i64) (m: i64): [n]i64 = tabulate n (\i -> random (i * 3) % (m + 1) - 1)

entry last_of_greatest (n: i64) (m: i64): bool =
  let op (x: f32, i: i64, a: u8) (y: f32, j: i64, b: u8) = if y < x then (x, i, a) else (y, j, b)
  let xs = tabulate n (\i -> (f32.f64 (key i), i, u8.i64 i))
  let is = bins_of n m
  let start = (-1, -1, 77)
  let made = reduce_by_index (replicate m start) op (-f32.inf, 0, 0) is xs
  let wanted = by_loop op (replicate m start) is xs
  in and (map3 (\b (x, i, a) (y, _, _) ->
       x == y && (if i < 0 then (x, i, a) == start else is[i] == b && xs[i] == (x, i, a)))
     (iota m) made wanted)

entry first_of_smallest (n: i64) (m: i64): bool =
  let op (i: i64, x: i16, a: f32) (j: i64, y: i16, b: f32) =
    if x <= y then (i, x, a) else (j, y, b)
  let xs = tabulate n (\i -> (i, i16.f64 (key i), f32.i64 (random i)))
  let is = bins_of n m
  let start = (-1, 100, 0)
  let made = reduce_by_index (replicate m start) op (-1, i16.highest, 0) is xs
  let wanted = by_loop op (replicate m start) is xs
  in and (map3 (\b (i, x, a) (_, y, _) ->
       x == y && (if i < 0 then (i, x, a) == start else is[i] == b && xs[i] == (i, x, a)))
     (iota m) made wanted)

entry asks_of_doubles (n: i64) (m: i64): bool =
  let op (x: f64, i: i64) (y: f64, j: i64) = if x < y || (x == y && j < i) then (y, j) else (x, i)
  let xs = tabulate n (\i -> (key i, random i % 1000))
  let is = bins_of n m
  let start = (-9, 0)
  in and (map2 (==) (reduce_by_index (replicate m start) op (-f64.inf, i64.highest) is xs)
               (by_loop op (replicate m start) is xs))

-- Keys of which 32 bits say nothing, and others.
entry asks_of_longs (n: i64) (m: i64): bool =
  let op (i: i64, x: i64) (j: i64, y: i64) =
    if x > y then (i, x) else if y > x then (j, y) else (i64.max i j, x)
  let xs = tabulate n (\i -> (random i, i64.f64 (key i * 2) << (if i % 3 == 0 then 40 else 0)))
  let is = bins_of n m
  let start = (0, -1 << 50)
  in and (map2 (==) (reduce_by_index (replicate m start) op (i64.lowest, i64.lowest) is xs)
               (by_loop op (replicate m start) is xs))

entry in_rows (n: i64) (k: i64) (m: i64): bool =
  let op (x: f32, i: i64) (y: f32, j: i64) = if y < x then (x, i) else (y, j)
  let one (r: i64) =
    let xs = tabulate k (\i -> (f32.f64 (key (r * k + i)), i))
    let is = map (\b -> (b + r) % m) (bins_of k m)
    in (is, xs)
  let start = (-9, -1)
  let made = tabulate n (\r ->
               let (is, xs) = one r
               in reduce_by_index (replicate m start) op (-f32.inf, -1) is xs)
  in and (map2 (\r bins ->
       let (is, xs) = one r
       let wanted = by_loop op (replicate m start) is xs
       in and (map3 (\b (x, i) (y, _) ->
            x == y && (if i < 0 then (x, i) == start else is[i] == b && xs[i] == (x, i)))
          (iota m) bins wanted))
     (iota n) made)
