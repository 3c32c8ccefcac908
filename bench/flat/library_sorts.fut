-- The sorts that ship with the server: an operation there, with other compilers a radix sort by bits.
-- ==
-- entry: check_sorts
-- input { 3000i64 } output { true }

import "../random"
import "../../kernels/prelude/library/kenaz/sort"

entry make_u32 (n: i64) (seed: i64) : [n]u32 = tabulate n (random_u32 seed)
entry make_u64 (n: i64) (seed: i64) : [n]u64 =
  tabulate n (\i -> u64.u32 (random_u32 seed i) << 32 | u64.u32 (random_u32 (seed + 1) i))
entry make_pairs (n: i64) (seed: i64) : ([n]u32, [n]i32) =
  (tabulate n (random_u32 seed), tabulate n i32.i64)

entry sort_keys [n] (xs: [n]u32) : [n]u32 = sort_u32.sort xs
entry sort_long [n] (xs: [n]u64) : [n]u64 = sort_u64.sort xs
entry sort_pairs [n] (keys: [n]u32) (values: [n]i32) : [n]i32 =
  map (.1) (sort_u32.by (.0) (zip keys values))

entry check_sorts (n: i64) : bool =
  let xs = make_u32 n 1
  let rises ys = all (\i -> ys[i] <= ys[i + 1]) (iota (i64.max 0 (n - 1)))
  let ys = sort_keys xs
  in rises ys && u32.sum xs == u32.sum ys
     && rises (map (\i -> xs[i]) (map i64.i32 (sort_pairs xs (map i32.i64 (iota n)))))
