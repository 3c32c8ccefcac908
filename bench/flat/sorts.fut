-- A radix sort by digits of two bits: a scan of four counts and a scatter per digit.
-- ==
-- entry: check_sorts
-- input { 3000i64 } output { true }

import "../random"

entry make_u32 (n: i64) (seed: i64) : [n]u32 = tabulate n (random_u32 seed)

-- The four counts of every prefix give each key its place.
def by_digit [n] (xs: [n]u32) (shift: i32) : [n]u32 =
  let digit x = (x >> u32.i32 shift) & 3
  let mark x = let d = digit x in (i32.bool (d == 0), i32.bool (d == 1), i32.bool (d == 2), i32.bool (d == 3))
  let plus (a, b, c, d) (e, f, g, h) = (a + e, b + f, c + g, d + h)
  let counts = scan plus (0, 0, 0, 0) (map mark xs)
  let (all0, all1, all2, _) = if n == 0 then (0, 0, 0, 0) else last counts
  let place x (c0, c1, c2, c3) =
    let d = digit x
    in i64.i32 (if d == 0 then c0 else if d == 1 then all0 + c1
                else if d == 2 then all0 + all1 + c2 else all0 + all1 + all2 + c3) - 1
  in scatter (replicate n 0) (map2 place xs counts) xs

entry sort_u32 [n] (xs: [n]u32) : [n]u32 = loop xs for i < 16 do by_digit xs (2 * i)

entry check_sorts (n: i64) : bool =
  let xs = make_u32 n 1
  let ys = sort_u32 xs
  in all (\i -> ys[i] <= ys[i + 1]) (iota (i64.max 0 (n - 1))) && u32.sum xs == u32.sum ys
