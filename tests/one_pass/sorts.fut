-- Sorts of several tiles, whose workgroups wait for each other.
-- ==
-- entry: words pairs longs bytes same
-- input { 0i64 } output { true }
-- input { 6000i64 } output { true }
-- input { 10241i64 } output { true }

import "kenaz/sort"

def words_of (n: i64) (seed: i64) : [n]u32 =
  map (\i -> u32.i64 ((i + seed) * 2654435761 ^ (i * i) << 3)) (iota n)

def rises [n] 't (before: t -> t -> bool) (xs: [n]t) : bool =
  all (\i -> !(before xs[i + 1] xs[i])) (iota (i64.max 0 (n - 1)))

entry words (n: i64) : bool =
  let xs = words_of n 1
  let ys = sort_u32.sort xs
  in rises (<) ys && u32.sum xs == u32.sum ys

-- Stable: of equal keys, those of which there are many, the first comes first.
entry pairs (n: i64) : bool =
  let keys = map (\x -> x >> 24) (words_of n 2)
  let order = map (.1) (sort_u32.by (.0) (zip keys (iota n)))
  let before i j = keys[i] < keys[j] || (keys[i] == keys[j] && i < j)
  in rises before order && i64.sum order == n * (n - 1) / 2

entry longs (n: i64) : bool =
  let xs = map2 (\a b -> u64.u32 a << 32 | u64.u32 b) (words_of n 1) (words_of n 5)
  let ys = sort_u64.sort xs
  in rises (<) ys && u64.sum xs == u64.sum ys

entry bytes (n: i64) : bool =
  let xs = map u8.u32 (words_of n 3)
  let ys = sort_u8.sort xs
  in rises (<) ys && i64.sum (map i64.u8 xs) == i64.sum (map i64.u8 ys)

entry same (n: i64) : bool =
  let order = map (.1) (sort_u32.by (.0) (map (\i -> (7, i)) (iota n)))
  in and (map2 (==) order (iota n))
