-- One entry for everything that computes a size. sizes_test.py calls them with sizes whose products
-- and sums wrap, and models.py says what must come of it.

-- ---- whole arrays
entry table (n: i64) (m: i64) : [][]i32 = tabulate_2d n m (\i j -> i32.i64 (i + j))

entry table_3d (a: i64) (b: i64) (c: i64) : [][][]u8 =
  tabulate_3d a b c (\i j k -> u8.i64 (i + j + k))

entry copies (n: i64) (m: i64) : [][]i64 = replicate n (replicate m 7i64)

entry copies_of_row (n: i64) (xs: []i32) : [][]i32 = replicate n xs

entry table_sums (n: i64) (m: i64) : []i64 =
  map (\xs -> i64.sum xs) (tabulate_2d n m (\i j -> i + j))

entry scans (n: i64) (m: i64) : [][]i64 =
  scan (map2 (+)) (replicate m 0) (replicate n (replicate m 1))

entry bins_of_rows (n: i64) (m: i64) (is: []i64) : [][]i32 =
  reduce_by_index (replicate n (replicate m 0)) (map2 (+)) (replicate m 0) is
                  (map (\_ -> replicate m 1) is)

-- ---- arrays of one thread
entry private (n: i64) (m: i64) : []i64 =
  map (\i -> let xs = scan (+) i (iota m) in if m > 0 then xs[m - 1] else i) (iota n)

entry private_2d (n: i64) (m: i64) (k: i64) : []i64 =
  map (\i ->
         let xss =
           loop xss = replicate m (replicate k i) for j < 2i64 do
             copy (map (map (+ j)) xss)
         in if m > 0 && k > 0 then xss[m - 1, k - 1] else i)
      (iota n)

entry on_heap (ns: []i64) : []i64 =
  map (\n -> let xs = scan (+) 0 (map (+ 1) (iota n)) in if n > 0 then xs[n - 1] else 0) ns

entry growing (ks: []i64) : []i64 =
  map (\k -> let xs = loop xs = [k] for _i < k do xs ++ xs in length xs + xs[0]) ks

entry growing_fast (ks: []i64) : []i64 =
  map (\k ->
         let xs = loop xs = [k] for _i < k do flatten (replicate 1024 xs)
         in length xs + xs[0])
      ks

-- ---- shapes
entry unflattened (n: i64) (m: i64) (xs: []u8) (i: i64) (j: i64) : u8 =
  (unflatten (xs :> [n * m]u8))[i, j]

entry unflattened_in_map (n: i64) (m: i64) (xs: []u8) (is: []i64) : []u8 =
  let yss = unflatten (xs :> [n * m]u8)
  in map (\i -> yss[i, i]) is

entry unflattened_by_thread (ns: []i64) (ms: []i64) (xs: []u8) : []u8 =
  map2 (\n m -> let yss = unflatten (xs :> [n * m]u8) in yss[n - 1, m - 1]) ns ms

entry unflattened_copies (n: i64) (m: i64) (k: i64) : i64 =
  length (unflatten (replicate k 1i64 :> [n * m]i64))

entry flattened_copies (n: i64) (m: i64) : i64 = length (flatten (replicate n (replicate m 1i64)))

entry flattened [n] [m] (xss: [n][m]u8) : []u8 = flatten xss

entry transposed [n] [m] (xss: [n][m]u8) : [m][n]u8 = transpose xss

-- ---- one behind another
entry joined_copies (a: i64) (b: i64) : i64 = length (replicate a 1i64 ++ replicate b 2i64)

entry joined_rows [n] [k] [m] (xss: [n][m]u8) (yss: [k][m]u8) : [][]u8 = xss ++ yss

entry expanded (ns: []i64) : []i64 =
  let (_, _, _, elements) = flatmap' (\n -> replicate n n) ns
  in elements

-- ---- ranges
entry range (a: i64) (b: i64) (c: i64) : i64 = length (a..b..<c)
entry range_to (a: i64) (b: i64) (c: i64) : i64 = length (a..b...c)
entry range_down (a: i64) (b: i64) (c: i64) : i64 = length (a..b..>c)
entry range_elements (a: i64) (b: i64) (c: i64) : []i64 = a..b...c
entry range_from (a: i64) (c: i64) : []i64 = a..<c
entry range_i8_to (a: i8) (c: i8) : []i8 = a...c
entry range_u8_down (a: u8) (c: u8) : []u8 = a..>c
entry range_u64 (a: u64) (b: u64) (c: u64) : []u64 = a..b...c
entry range_i8 (a: i8) (b: i8) (c: i8) : []i8 = a..b...c
entry range_u8 (a: u8) (b: u8) (c: u8) : []u8 = a..b..<c
entry range_in_map (as: []i64) (b: i64) (c: i64) : []i64 = map (\a -> length (a..b...c)) as

-- ---- slices
entry slice (xs: []i32) (a: i64) (b: i64) (s: i64) : []i32 = xs[a:b:s]
entry slice_from (xs: []i32) (a: i64) (s: i64) : []i32 = xs[a::s]
entry slice_all (xs: []i32) (s: i64) : []i32 = xs[::s]
entry slice_plain (xs: []i32) (a: i64) (b: i64) : []i32 = xs[a:b]
entry slice_in_map (xs: []i32) (as: []i64) (b: i64) (s: i64) : []i32 =
  map (\a -> i32.sum xs[a:b:s]) as
entry slice_rows (xss: [][]u8) (a: i64) (b: i64) (s: i64) : [][]u8 = xss[:, a:b:s]
entry slice_updated (xs: []i32) (a: i64) (k: i64) : []i32 =
  copy xs with [a:a + k] = replicate k 0

-- ---- places
entry scattered [k] (n: i64) (is: [k]i64) (vs: []i32) : []i32 =
  scatter (replicate n 0) is (sized k vs)
entry scattered_2d [k] (n: i64) (m: i64) (is: [k]i64) (js: []i64) : [][]i32 =
  scatter_2d (replicate n (replicate m 0)) (zip is (sized k js)) (map (const 1) is)
entry histogram (n: i64) (is: []i64) : []i32 = hist (+) 0 n is (map (const 1) is)
entry first (k: i64) (xs: []i32) : []i32 = take k xs
entry rest (k: i64) (xs: []i32) : []i32 = drop k xs
entry turned (k: i64) (xs: []i32) : []i32 = rotate (k % 8) xs
