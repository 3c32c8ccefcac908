-- filter, partition and partition2: of elements of every width, tuples and rows, of sizes around
-- those where work is divided, at host level, in loops and branches, and inside of maps.
-- ==
-- entry: filters tuples rows parts parts2 computed sorted
-- input { }
-- output { true }

-- ==
-- entry: some
-- input { [3, 1, 4, 1, 5, 9, 2, 6] 4 }
-- output { [4, 5, 9, 6] [3, 1, 1, 2] 4i64 }
-- input { empty([0]i32) 4 }
-- output { empty([0]i32) empty([0]i32) 0i64 }

-- ==
-- entry: inside
-- input { [[1, 2, 3, 4], [5, 7, 9, 11], [2, 4, 6, 8]] }
-- output { [6, 0, 20] [[2, 4, 1, 3], [5, 7, 9, 11], [2, 4, 6, 8]] }

-- ==
-- entry: rounds
-- input { 20i64 }
-- output { [11i64, 13i64, 17i64, 19i64] }

-- ==
-- entry: divided
-- input { [4, 2, 1] }
-- output { [4, 2] }
-- input { [4, 0, 1] }
-- error: division by zero

def sizes : []i64 = [0, 1, 2, 3, 7, 8, 9, 31, 255, 256, 257, 2047, 4096, 4097, 16384, 40001]

-- Whether these are the elements of xs at positions i for which p(i), in their order.
def is_filter [n] [m] 't (eq: t -> t -> bool) (p: i64 -> bool) (xs: [n]t) (ys: [m]t) : bool =
  let ends = scan (+) 0 (map (\i -> i64.bool (p i)) (iota n))
  in m == (if n == 0 then 0 else last ends)
     && all (\i -> !(p i) || eq xs[i] ys[ends[i] - 1]) (iota n)

def holds (i: i64) : bool = i * 7919 % 11 < 4

def filtered [n] 't (eq: t -> t -> bool) (xs: [n]t) : bool =
  let ys = filter (\(i, _) -> holds i) (zip (iota n) xs)
  in is_filter eq holds xs (map (.1) ys)
     && length (filter (const false) xs) == 0
     && length (filter (const true) xs) == n

entry filters =
  loop ok = true for n in sizes do
    let is = #[opaque] iota n
    in ok
       && filtered (==) (#[opaque] map (\i -> u8.i64 (i * 7)) is)
       && filtered (==) (#[opaque] map (\i -> i16.i64 (i * 77)) is)
       && filtered (==) (#[opaque] map (\i -> f32.i64 i) is)
       && filtered (==) (#[opaque] map (\i -> i * i) is)
       && filtered (==) (#[opaque] map (\i -> i % 3 == 0) is)

entry tuples =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> (u8.i64 i, {a = i, b = f32.i64 i})) (iota n)
    in ok && filtered (\(a, b) (c, d) -> a == c && b.a == d.a && b.b == d.b) xs

entry rows =
  loop ok = true for n in [0, 1, 5, 300, 5000] do
    let xs = #[opaque] map (\i -> [i, i * i, -i]) (iota n)
    let ys = filter (\x -> holds x[0]) xs
    let (some, others) = partition (\x -> holds x[0]) xs
    let same = \(a: [3]i64) b -> and (map2 (==) a b)
    in ok
       && is_filter same holds xs ys
       && is_filter same holds xs some
       && is_filter same (\i -> !(holds i)) xs others

entry parts =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> i32.i64 (i * 5 % 71)) (iota n)
    let (some, others) = partition (\(i, _) -> holds i) (zip (iota n) xs)
    in ok
       && is_filter (==) holds xs (map (.1) some)
       && is_filter (==) (\i -> !(holds i)) xs (map (.1) others)

entry parts2 =
  loop ok = true for n in sizes do
    let xs = #[opaque] map (\i -> u16.i64 (i * 5)) (iota n)
    let (a, b, c) =
      partition2 (\(i, _) -> holds i) (\(i, _) -> i % 3 == 0) (zip (iota n) xs)
    in ok
       && is_filter (==) holds xs (map (.1) a)
       && is_filter (==) (\i -> !(holds i) && i % 3 == 0) xs (map (.1) b)
       && is_filter (==) (\i -> !(holds i) && i % 3 != 0) xs (map (.1) c)

-- What makes the elements, and what is long to decide.
def steps (x: i64) : i64 =
  let (_, n) = loop (y, n) = (x + 1, 0) while y > 1 do ((if y % 2 == 0 then y / 2 else 3 * y + 1), n + 1)
  in n

entry computed =
  loop ok = true for n in [0, 1, 100, 5000] do
    let xs = #[opaque] iota n
    let ys = filter (\x -> steps x % 2 == 0) (map (+ 1) xs)
    let zs = filter (\x -> i64.sum (map (\j -> x * j % 3) (iota 40)) > 39) xs
    in ok
       && is_filter (==) (\i -> steps (i + 1) % 2 == 0) (map (+ 1) xs) ys
       && is_filter (==) (\i -> i64.sum (map (\j -> i * j % 3) (iota 40)) > 39) xs zs

entry some [n] (xs: [n]i32) (least: i32) =
  let (large, small) = partition (>= least) xs
  in (filter (>= least) xs, small, length large)

entry inside [n] [m] (xss: [n][m]i32) =
  let evens = map (\xs -> i32.sum (filter (\x -> x % 2 == 0) xs)) xss
  let sorted = map (\xs -> let (a, b) = partition (\x -> x % 2 == 0) xs in a ++ b :> [m]i32) xss
  in (evens, sorted)

-- A sieve: each round leaves less.
entry rounds (n: i64) =
  let (_, left) =
    loop (i, left) = (2, map (+ 2) (iota (n - 1)))
    while i * i <= n do
      (i + 1, if i % 2 == 0 || i == 3 then filter (\x -> x % i != 0) left else left)
  in filter (> 10) left

entry divided (xs: []i32) = filter (\x -> 4 / x < 4) xs

-- Radix sort by partitions.
entry sorted =
  loop ok = true for n in [0, 1, 1000, 20000] do
    let xs = #[opaque] map (\i -> u16.i64 (i * 40503)) (iota n)
    let by_bit [m] (ys: [m]u16) b =
      let (zeros, ones) = partition (\y -> (y >> b) & 1 == 0) ys
      in zeros ++ ones :> [m]u16
    let ys = loop ys = xs for b < 16 do by_bit ys (u16.i32 b)
    in ok && all (\i -> i == 0 || ys[i - 1] <= ys[i]) (iota n)
