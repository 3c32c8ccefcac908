-- Maps of arrays that are read at their own index, whose results go there, too: every width of
-- elements, several widths in one map, lengths around what a workgroup takes, many workgroups.
-- ==
-- entry: words halves bytes widths indices elsewhere branches in_place constants behind many
-- input { }
-- output { true }

def sizes : []i64 =
  [0, 1, 7, 8, 63, 64, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 4097,
   70001]

-- In memory, not made where it is read.
def numbers (n: i64) : [n]i64 = #[opaque] map (\i -> (i * 2654435761) ^ (i << 40)) (iota n)

entry words =
  loop ok = true for n in sizes do
    let xs = numbers n
    let ds = #[opaque] map f64.i64 xs
    let ys = #[opaque] map (\x -> x * 3 - 1) xs
    let es = #[opaque] map (\d -> d / 2 - 1) ds
    in ok && all (\i -> ys[i] == xs[i] * 3 - 1 && es[i] == f64.i64 xs[i] / 2 - 1) (iota n)

entry halves =
  loop ok = true for n in sizes do
    let xs = #[opaque] map i32.i64 (numbers n)
    let fs = #[opaque] map (\i -> f32.i64 (i % 4096)) (iota n)
    let ys = #[opaque] map2 (\x f -> if f < 7 then x else -x) xs fs
    let gs = #[opaque] map (\f -> 2 * f + 1) fs
    in ok
       && all (\i -> ys[i] == (if i % 4096 < 7 then xs[i] else -xs[i])
                     && gs[i] == f32.i64 (2 * (i % 4096) + 1))
              (iota n)

entry bytes =
  loop ok = true for n in sizes do
    let xs = #[opaque] map u8.i64 (numbers n)
    let is = #[opaque] map i8.i64 (numbers n)
    let bs = #[opaque] map (\x -> x % 3 == 0) xs
    let ys = #[opaque] map2 (\x b -> if b then x + 1 else x) xs bs
    let zs = #[opaque] map (\x -> -x) is
    let cs = #[opaque] map (\b -> !b) bs
    in ok
       && all (\i -> bs[i] == (xs[i] % 3 == 0) && cs[i] != bs[i]
                     && ys[i] == (if bs[i] then xs[i] + 1 else xs[i]) && zs[i] == -is[i])
              (iota n)

entry widths =
  loop ok = true for n in sizes do
    let xs = numbers n
    let hs = #[opaque] map u16.i64 xs
    let ys = #[opaque] map2 (\x h -> u8.i64 x ^ u8.u16 h) xs hs
    let zs = #[opaque] map2 (\y h -> i64.u8 y * i64.u16 h) ys hs
    let ts = #[opaque] map (\x -> (x > 0, i16.i64 x, f64.i64 x)) xs
    in ok
       && all (\i -> ys[i] == u8.i64 xs[i] ^ u8.u16 hs[i]
                     && zs[i] == i64.u8 ys[i] * i64.u16 hs[i]
                     && ts[i].0 == (xs[i] > 0) && ts[i].1 == i16.i64 xs[i]
                     && ts[i].2 == f64.i64 xs[i])
              (iota n)

entry indices =
  loop ok = true for n in sizes do
    let xs = numbers n
    let ys = #[opaque] map2 (\x i -> x + i * i) xs (iota n)
    let is = #[opaque] map (\i -> i32.i64 i * 5) (iota n)
    in ok && all (\i -> ys[i] == xs[i] + i * i && is[i] == i32.i64 i * 5) (iota n)

entry elsewhere =
  loop ok = true for n in sizes do
    let xs = numbers n
    let ys = #[opaque] map2 (\x i -> x - xs[(i * 7) % n]) xs (iota n)
    in ok && all (\i -> ys[i] == xs[i] - xs[(i * 7) % n]) (iota n)

entry branches =
  loop ok = true for n in sizes do
    let xs = numbers n
    let ys = #[opaque] map (\x -> if x % 5 == 0 then x / 5 else if x < 0 then 3 - x else x + 1) xs
    in ok
       && all (\x -> x) (map2 (\x y -> y == (if x % 5 == 0 then x / 5 else if x < 0 then 3 - x else x + 1))
                              xs ys)

-- The result may be made where the argument was.
entry in_place =
  loop ok = true for n in sizes do
    let xs = loop xs = numbers n for k < 5 do map (\x -> x * 2 + k) xs
    let ys = map (\x -> (((((x * 2) * 2 + 1) * 2 + 2) * 2 + 3) * 2 + 4)) (numbers n)
    in ok && all (\i -> xs[i] == ys[i]) (iota n)

entry constants =
  loop ok = true for n in sizes do
    let k = #[opaque] n + 4
    let xs = numbers n
    let ys = #[opaque] map (\x -> x * k - n) xs
    in ok && all (\i -> ys[i] == xs[i] * (n + 4) - n) (iota n)

-- Arrays that begin inside of others, and run backwards.
entry behind =
  loop ok = true for n in sizes do
    let xs = numbers (n + 3)
    let ys = #[opaque] map2 (+) xs[3:] (take n (reverse xs) :> [n + 3 - 3]i64)
    in ok && all (\i -> ys[i] == xs[i + 3] + xs[n + 2 - i]) (iota n)

-- More workgroups than stand in a row of them.
entry many =
  let n = 4194433
  let ys = #[opaque] map (\i -> i * 3 + 1) (iota n)
  let zs = #[opaque] map (\y -> y - 1) ys
  in all (\i -> zs[i] == 3 * i) (iota n)
