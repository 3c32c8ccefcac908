-- Maps over more elements than it takes to fill a device: there each thread takes several, the last
-- workgroup fewer, and of a few elements each has a thread of its own.
-- ==
-- entry: are_numbers
-- compiled script input { numbers 513i64 513i64 } output { true }
-- compiled script input { numbers 512i64 512i64 } output { true }
-- compiled script input { numbers 3i64 5i64 } output { true }

-- ==
-- entry: are_next
-- compiled script input { next (bytes 262144i64) } output { true }
-- compiled script input { next (bytes 262145i64) } output { true }
-- compiled script input { next (bytes 264201i64) } output { true }
-- compiled script input { next (bytes 9i64) } output { true }

entry numbers (h: i64) (w: i64) : [h][w]i32 = tabulate_2d h w (\i j -> i32.i64 (i * w + j))
entry are_numbers [h] [w] (xs: [h][w]i32) : bool =
  and (map2 (\i x -> x == i32.i64 i) (iota (h * w)) (flatten xs))

entry bytes (n: i64) : [n]u8 = map u8.i64 (iota n)
entry next [n] (xs: [n]u8) : [n]u8 = map (+ 1) xs
entry are_next [n] (xs: [n]u8) : bool = and (map2 (\i x -> x == u8.i64 (i + 1)) (iota n) xs)
