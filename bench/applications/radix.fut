-- Radix sorts as people write them: by one bit in a pass, and of pairs by two bits in a pass.
-- ==
-- entry: sort_bits sort_pairs
-- script input { make_radix 100i64 1i64 } auto output

-- ==
-- entry: check_radix
-- input { 1000i64 1i64 } output { true }

import "../random"

entry make_radix (n: i64) (seed: i64) : [n]u32 = tabulate n (random_u32 seed)

def split [n] (bit: i32) (xs: [n]u32) : [n]u32 =
  let is_one = map (\x -> i64.i32 (u32.get_bit bit x)) xs
  let ones = scan (+) 0 is_one
  let zeros = n - (if n == 0 then 0 else last ones)
  let place i one before = if one == 1 then zeros + before - 1 else i - before
  in scatter (replicate n 0) (map3 place (iota n) is_one ones) xs

entry sort_bits [n] (xs: [n]u32) : [n]u32 =
  loop xs for bit < 32 do split bit xs

-- Pairs by a digit of two bits: the four counts are scanned together.
def pass [n] (shift: u32) (pairs: [n](u32, i32)) : [n](u32, i32) =
  let digit (x, _) = i32.u32 ((x >> shift) & 3)
  let mark d = (i32.bool (d == 0), i32.bool (d == 1), i32.bool (d == 2), i32.bool (d == 3))
  let plus (a, b, c, d) (e, f, g, h) = (a + e, b + f, c + g, d + h)
  let counts = scan plus (0, 0, 0, 0) (map (\p -> mark (digit p)) pairs)
  let (c0, c1, c2, _) = if n == 0 then (0, 0, 0, 0) else last counts
  let place p (n0, n1, n2, n3) =
    let d = digit p
    in i64.i32 (if d == 0 then n0 - 1
                else if d == 1 then c0 + n1 - 1
                else if d == 2 then c0 + c1 + n2 - 1
                else c0 + c1 + c2 + n3 - 1)
  in scatter (copy pairs) (map2 place pairs counts) pairs

-- | The sorted keys and where each was.
entry sort_pairs [n] (xs: [n]u32) : ([n]u32, [n]i32) =
  let pairs = zip xs (map i32.i64 (iota n))
  in unzip (loop pairs for i < 16 do pass (u32.i32 (2 * i)) pairs)

-- Both are in order, and the same; equal keys stay in order.
entry check_radix (n: i64) (seed: i64) : bool =
  let xs = map (\x -> x & 0xff00ff) (make_radix n seed)
  let (keys, places) = sort_pairs xs
  let in_order i = keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && places[i] < places[i + 1])
  in and (map2 (==) keys (sort_bits xs))
     && all in_order (iota (i64.max 0 (n - 1)))
     && and (map2 (\k p -> k == xs[i64.i32 p]) keys places)
