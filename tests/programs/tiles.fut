-- Reductions and scans of one array, which plans take tile by tile: every width of elements, several
-- arrays, operators that do not commute, lengths around a tile and around eight of them. A scan is
-- right if each value follows from the one before it; a reduction is its last one.
-- ==
-- entry: words halves bytes floats pairs affine flagged mapped both extremes behind
-- input { }
-- output { true }

def sizes : []i64 =
  [0, 1, 255, 257, 1023, 1025, 2047, 2048, 2049, 2303, 2305, 4096, 8193, 20011]

-- In memory, not made where it is read.
def numbers (n: i64) : [n]i64 = #[opaque] map (\i -> (i * 2654435761) ^ (i << 40)) (iota n)

def is_scan [n] 'a 'b (eq: b -> b -> bool) (op: b -> b -> b) (ne: b) (f: a -> b) (xs: [n]a)
            (ys: [n]b) (total: b) : bool =
  all (\i -> eq ys[i] (if i == 0 then op ne (f xs[0]) else op ys[i - 1] (f xs[i]))) (iota n)
  && eq total (if n == 0 then ne else ys[n - 1])

entry words =
  loop ok = true for n in sizes do
    let xs = numbers n
    in ok
       && is_scan (==) (+) 0 id xs (#[opaque] (scan (+) 0 xs)) (#[opaque] (reduce (+) 0 xs))
       && is_scan (==) i64.max i64.lowest id xs (#[opaque] (scan i64.max i64.lowest xs))
                  (#[opaque] (reduce i64.max i64.lowest xs))

entry halves =
  loop ok = true for n in sizes do
    let xs = #[opaque] map u32.i64 (numbers n)
    let hs = #[opaque] map i16.i64 (numbers n)
    in ok
       && is_scan (==) (*) 1 id xs (#[opaque] (scan (*) 1 xs)) (#[opaque] (reduce (*) 1 xs))
       && is_scan (==) (^) 0 id hs (#[opaque] (scan (^) 0 hs)) (#[opaque] (reduce (^) 0 hs))

entry bytes =
  loop ok = true for n in sizes do
    let xs = #[opaque] map u8.i64 (numbers n)
    let bs = #[opaque] map (\i -> i % 4099 != 4098) (iota n)
    in ok
       && is_scan (==) (+) 0 id xs (#[opaque] (scan (+) 0 xs)) (#[opaque] (reduce (+) 0 xs))
       && is_scan (==) (&&) true id bs (#[opaque] (scan (&&) true bs)) (#[opaque] (and bs))

-- Whole numbers: sums are exact in any order.
entry floats =
  loop ok = true for n in sizes do
    let fs = #[opaque] map (\i -> f32.i64 (i % 31 - 15)) (iota n)
    let ds = #[opaque] map (\i -> f64.i64 (i % 4093) / 4) (iota n)
    in ok
       && is_scan (==) (+) 0 id fs (#[opaque] (scan (+) 0 fs)) (#[opaque] (f32.sum fs))
       && is_scan (==) (+) 0 id ds (#[opaque] (scan (+) 0 ds)) (#[opaque] (f64.sum ds))

entry pairs =
  loop ok = true for n in sizes do
    let xs = #[opaque] map i32.i64 (numbers n)
    let ys = #[opaque] map u8.i64 (numbers n)
    let op (a: i32, b: u8) (c: i32, d: u8) = (a + c, u8.max b d)
    in ok
       && is_scan (==) op (0, 0) id (zip xs ys) (#[opaque] (scan op (0, 0) (zip xs ys)))
                  (#[opaque] (reduce op (0, 0) (zip xs ys)))

entry affine =
  loop ok = true for n in sizes do
    let xs = #[opaque] map i32.i64 (numbers n)
    let ys = #[opaque] map (\x -> x / 7) xs
    let op (a: i32, b: i32) (c: i32, d: i32) = (a * c, b * c + d)
    in ok
       && is_scan (==) op (1, 0) id (zip xs ys) (#[opaque] (scan op (1, 0) (zip xs ys)))
                  (#[opaque] (reduce op (1, 0) (zip xs ys)))

entry flagged =
  loop ok = true for n in sizes do
    let xs = numbers n
    let fs = #[opaque] map (\i -> i % 700 == 699) (iota n)
    let op (f, x: i64) (g, y: i64) = (f || g, if g then y else x + y)
    in ok
       && is_scan (==) op (false, 0) id (zip fs xs) (#[opaque] (scan op (false, 0) (zip fs xs)))
                  (#[opaque] (reduce op (false, 0) (zip fs xs)))

entry mapped =
  loop ok = true for n in sizes do
    let xs = #[opaque] map i32.i64 (numbers n)
    let ys = #[opaque] map u16.i64 (numbers n)
    let f (x, y) = i64.i32 x * i64.u16 y
    let g (x: i32) = if x < 0 then 1 else 0i64
    in ok
       && is_scan (==) (+) 0 f (zip xs ys) (#[opaque] (scan (+) 0 (map f (zip xs ys))))
                  (#[opaque] (reduce (+) 0 (map f (zip xs ys))))
       && is_scan (==) (+) 0 g xs (#[opaque] (scan (+) 0 (map g xs)))
                  (#[opaque] (reduce (+) 0 (map g xs)))
       && #[opaque] (reduce (+) 0 (map2 (\i x -> i * i64.i32 x) (iota n) xs))
          == (loop s = 0 for i < n do s + i * i64.i32 xs[i])

-- What is scanned is a result, too.
entry both =
  loop ok = true for n in sizes do
    let xs = numbers n
    let (ys, zs) = #[opaque] (let ys = map (\x -> x * 3 + 1) xs in (ys, scan (+) 0 ys))
    let (vs, s) = #[opaque] (let vs = map (\x -> x ^ 5) xs in (vs, reduce (+) 0 vs))
    in ok
       && is_scan (==) (+) 0 (\x -> x * 3 + 1) xs zs (reduce (+) 0 ys)
       && all (\i -> ys[i] == xs[i] * 3 + 1 && vs[i] == xs[i] ^ 5) (iota n)
       && s == reduce (+) 0 vs

-- The first index of the smallest.
entry extremes =
  loop ok = true for n in sizes do
    let fs = #[opaque] map (\i -> f32.i64 (i * 7919 % 4099)) (iota n)
    let smaller (a: f32, i: i64) (b, j) = if b < a || (a == b && j < i) then (b, j) else (a, i)
    let (x, i) = #[opaque] (reduce smaller (f32.inf, i64.highest) (zip fs (iota n)))
    let least = loop m = f32.inf for f in fs do if f < m then f else m
    in ok && (n == 0 || (x == least && fs[i] == x && all (\j -> fs[j] != x) (iota i)))
       && f32.minimum fs == least

-- Arrays that do not begin where their memory does, or are read backwards.
entry behind =
  loop ok = true for n in sizes do
    let xs = numbers (n + 3)
    let tail = drop 3 xs :> [n]i64
    in ok
       && is_scan (==) (+) 0 id tail (#[opaque] (scan (+) 0 tail)) (#[opaque] (reduce (+) 0 tail))
       && #[opaque] (reduce (+) 0 (reverse xs)) == #[opaque] (reduce (+) 0 xs)
