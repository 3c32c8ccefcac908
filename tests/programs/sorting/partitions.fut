-- Partitions and radix sorts that are written as sums of flags and scatters.
-- ==
-- entry: by_bit by_truth by_complement by_number_before by_number by_reduction with_rows
-- input { [5u32, 2u32, 7u32, 4u32, 4u32, 1u32, 0u32] } auto output
-- input { [2u32] } auto output
-- input { empty([0]u32) } auto output
-- random input { [1000]u32 } auto output

-- ==
-- entry: by_digit one_bit_each two_bits_each pairs_of_bits of_halves of_low_bits of_signed with_values
-- input { [5u32, 2u32, 7u32, 4u32, 4000000000u32, 1u32, 0u32, 70000u32] } auto output
-- input { [2u32] } auto output
-- input { empty([0]u32) } auto output
-- random input { [1000]u32 } auto output

-- ==
-- entry: of_none
-- input { empty([0]u32) } error: out of bounds
-- input { [5u32, 2u32, 7u32] } output { [5u32, 7u32, 2u32] }

def before [n] (flags: [n]i32) : [n]i32 = map2 (-) (scan (+) 0 flags) flags

entry by_bit [n] (xs: [n]u32) : [n]u32 =
  let bits = map (\x -> i32.u32 (x & 1)) xs
  let zeros = map (1 -) bits
  let offset = reduce (+) 0 zeros
  let low = map2 (*) zeros (scan (+) 0 zeros)
  let high = map2 (*) bits (map (+ offset) (scan (+) 0 bits))
  in scatter (copy xs) (map (\i -> i64.i32 i - 1) (map2 (+) low high)) xs

entry by_truth [n] (xs: [n]u32) : [n]u32 =
  let small = map (< 5) xs
  let counts = scan (+) 0 (map i64.bool small)
  let others = scan (+) 0 (map (\b -> i64.bool (!b)) small)
  let place b k l = if b then k - 1 else (if n == 0 then 0 else last counts) + l - 1
  in scatter (replicate n 0) (map3 place small counts others) xs

-- What is not in the first class stands behind it, as far as there are others before.
entry by_complement [n] (xs: [n]u32) : [n]u32 =
  let flags = map (\x -> i64.bool (x % 3 == 0)) xs
  let counts = scan (+) 0 flags
  let total = i64.sum flags
  let place i f k = if f == 1 then k - 1 else total + i - k
  in scatter (replicate n 0) (map3 place (iota n) flags counts) xs

entry by_number_before [n] (xs: [n]u32) : [n]u32 =
  let flags = map (\x -> i32.bool (x > 3)) xs
  let others = map (1 -) flags
  let place f k l = i64.i32 (if f == 0 then l else k + i32.sum others)
  in scatter (replicate n 0) (map3 place flags (before flags) (before others)) xs

entry by_number [n] (xs: [n]u32) : [n]i64 =
  let flags = map (\x -> i64.bool (x > 3)) xs
  let counts = scan (+) 0 flags
  let place i f k = if f == 1 then n - i64.sum flags + k - 1 else i - k
  in scatter (replicate n 0) (map3 place (iota n) flags counts) (iota n)

entry by_reduction [n] (xs: [n]u32) : [n]u32 =
  let class x = if x & 3 == 3 then 1 else x & 3
  let flag k x = i64.bool (class x == k)
  let c = scan (\(a, b, c) (d, e, f) -> (a + d, b + e, c + f)) (0, 0, 0)
               (map (\x -> (flag 0 x, flag 1 x, flag 2 x)) xs)
  let (a, b, _) = reduce (\(a, b, c) (d, e, f) -> (a + d, b + e, c + f)) (0, 0, 0)
                         (map (\x -> (flag 0 x, flag 1 x, flag 2 x)) xs)
  let place x (k, l, m) = match class x case 0 -> k - 1 case 1 -> a + l - 1 case _ -> a + b + m - 1
  in scatter (replicate n 0) (map2 place xs c) xs

entry with_rows [n] (xs: [n]u32) : [n][3]u32 =
  let rows = map (\x -> [x, x + 1, x * 2]) xs
  let flags = map (\x -> i64.u32 (x >> 1 & 1)) xs
  let counts = scan (+) 0 flags
  let place i f k = if f == 1 then n - i64.sum flags + k - 1 else i - k
  in scatter (replicate n [0, 0, 0]) (map3 place (iota n) flags counts) rows

-- Four counts of every prefix.
def by_two_bits 't [n] (digit: t -> u32) (zero: t) (xs: [n]t) : [n]t =
  let mark x =
    let d = digit x
    in (i32.bool (d == 0), i32.bool (d == 1), i32.bool (d == 2), i32.bool (d == 3))
  let plus (a, b, c, d) (e, f, g, h) = (a + e, b + f, c + g, d + h)
  let counts = scan plus (0, 0, 0, 0) (map mark xs)
  let (all0, all1, all2, _) = if n == 0 then (0, 0, 0, 0) else last counts
  let place x (c0, c1, c2, c3) =
    let d = digit x
    in i64.i32 (if d == 0 then c0 else if d == 1 then all0 + c1
                else if d == 2 then all0 + all1 + c2 else all0 + all1 + all2 + c3) - 1
  in scatter (replicate n zero) (map2 place xs counts) xs

entry by_digit [n] (xs: [n]u32) : [n]u32 = by_two_bits (\x -> x >> 4 & 3) 0 xs

entry two_bits_each [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 16 do by_two_bits (\x -> x >> u32.i32 (2 * i) & 3) 0 xs

entry one_bit_each [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 32 do
    let bits = map (\x -> u32.get_bit i x) xs
    let zeros = map (1 -) bits
    let offset = i32.sum zeros
    let low = map2 (*) zeros (scan (+) 0 zeros)
    let high = map2 (*) bits (map (+ offset) (scan (+) 0 bits))
    in scatter (copy xs) (map (\i -> i64.i32 i - 1) (map2 (+) low high)) xs

entry pairs_of_bits [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 16 do
    by_two_bits (\x -> u32.i32 (u32.get_bit (2 * i + 1) x * 2 + u32.get_bit (2 * i) x)) 0 xs

entry of_halves [n] (xs: [n]u32) : [n]u16 =
  loop xs = map u16.u32 xs for i < 8i16 do
    by_two_bits (\x -> u32.u16 (x >> (u16.i16 i << 1)) & 3) 0 xs

-- The other bits do not count.
entry of_low_bits [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 3 do by_two_bits (\x -> x >> u32.i32 (2 * i) & 3) 0 xs

entry of_signed [n] (xs: [n]u32) : [n]i32 =
  loop xs = map i32.u32 xs for i < 16 do
    by_two_bits (\x -> u32.i32 (x >> (2 * i) & 3)) 0 xs

entry with_values [n] (xs: [n]u32) : ([n]u32, [n]i64, [n]f32) =
  let zipped = map2 (\x i -> (x * 7, i, f32.u32 x)) xs (iota n)
  in unzip3 (loop zipped for i < 16 do
               by_two_bits (\(x, _, _) -> x >> u32.i32 (2 * i) & 3) (0, 0, 0) zipped)

-- The failing element of no counts stays one.
entry of_none [n] (xs: [n]u32) : [n]u32 =
  let flags = map (\x -> i64.u32 (x & 1)) xs
  let counts = scan (+) 0 flags
  let all = last counts
  let place i f k = if f == 1 then k - 1 else all + i - k
  in scatter (replicate n 0) (map3 place (iota n) flags counts) xs
