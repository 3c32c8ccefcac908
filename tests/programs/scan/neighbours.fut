-- Elements that are read and written side by side: by vectors, where a device has them. Every type,
-- lengths that are no multiples of a vector's, arrays that begin inside of others, and results of
-- the map beside those of the scan.
-- ==
-- entry: integers floats views beside tuples constants rows maps
-- input { }
-- output { true }

def sizes : []i64 = [0, 1, 2, 3, 4, 5, 7, 8, 9, 127, 1023, 4096, 4097, 17001, 50003]

def is_scan [n] 't (eq: t -> t -> bool) (op: t -> t -> t) (ne: t) (xs: [n]t) (ys: [n]t) : bool =
  all (\i -> eq ys[i] (op (if i == 0 then ne else ys[i - 1]) xs[i])) (iota n)

def scans [n] 't (eq: t -> t -> bool) (op: t -> t -> t) (ne: t) (xs: [n]t) : bool =
  let ys = scan op ne xs
  in is_scan eq op ne xs ys && eq (reduce op ne xs) (if n == 0 then ne else last ys)

entry integers =
  loop ok = true for n in sizes do
    let is = #[opaque] iota n
    in ok
       && scans (==) (+) 0 (#[opaque] map (\i -> u8.i64 (i * 7)) is)
       && scans (==) (+) 0 (#[opaque] map (\i -> i16.i64 (i * 77)) is)
       && scans (==) i32.max i32.lowest (#[opaque] map (\i -> i32.i64 (i * 7919 % 1000)) is)
       && scans (==) (+) 0 (map (\i -> i * i) is)
       && scans (==) (&&) true (#[opaque] map (!= 4000) is)

entry floats =
  loop ok = true for n in sizes do
    let is = #[opaque] iota n
    in ok
       && scans (==) (+) 0 (#[opaque] map (\i -> f32.i64 (i % 16)) is)
       && scans (==) f64.max f64.lowest (#[opaque] map (\i -> f64.i64 (i * 7919 % 1000)) is)

-- Every third element, and the elements behind the first three.
entry views =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> i32.i64 (i * 5 % 71)) (iota (3 * n + 3))
    in ok
       && scans (==) (+) 0 xs[3:]
       && scans (==) (+) 0 xs[::3]
       && reduce (+) 0 xs[1:] == i32.sum xs - xs[0]

entry beside =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> i32.i64 (i % 1000)) (iota n)
    let ys = map (* 3) xs
    let zs = map (\x -> i64.i32 x + 1) xs
    let s = scan (+) 0 ys
    in ok
       && is_scan (==) (+) 0 ys s
       && all (\i -> ys[i] == 3 * xs[i] && zs[i] == i64.i32 xs[i] + 1) (iota n)

entry tuples =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> u32.i64 (i * 2654435761)) (iota n)
    let op (a, b) (c, d) : (u32, u32) = (a * c, b * c + d)
    in ok && scans (==) op (1, 0) (map (\x -> (x | 1, x >> 3)) xs)

entry constants =
  loop ok = true for n in sizes do
    ok && is_scan (==) (+) 0 (replicate n 2u16) (scan (+) 0 (replicate n 2u16))

-- As many rows as the size says, one among them.
entry rows =
  loop ok = true for (n, m) in [(1, 0), (1, 5), (1, 5000), (1, 30001), (3, 20003)] do
    let xss = #[opaque] tabulate_2d n m (\i j -> i32.i64 (i * 31 + j * 7))
    let yss = map (scan (+) 0) xss
    let good = tabulate_2d n m (\i j ->
                 yss[i, j] == (if j == 0 then 0 else yss[i, j - 1]) + xss[i, j])
    in ok && reduce (&&) true (flatten good)

entry maps =
  loop ok = true for n in sizes do
    let is = #[opaque] iota n
    let bytes = #[opaque] map (\i -> u8.i64 (3 * i)) is
    let words = #[opaque] map (\i -> f64.i64 i) is
    let bits = #[opaque] map (\x -> x % 5 == 0) bytes
    let (halves, sums) =
      unzip (map3 (\b w c -> (b / 2, if c then w else w + f64.u8 b)) bytes words bits)
    in ok
       && all (\i ->
                 let b = u8.i64 (3 * i)
                 in bytes[i] == b && bits[i] == (b % 5 == 0) && halves[i] == b / 2
                    && sums[i] == (if b % 5 == 0 then f64.i64 i else f64.i64 i + f64.u8 b))
              is
