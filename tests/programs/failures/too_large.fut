-- Sizes whose products and sums do not fit into 64 bits, or into any memory: the call fails, and
-- says so. The server's memory is not touched by what there is no room for.
-- ==
-- entry: table
-- input { 2i64 3i64 }
-- output { [[0, 1, 2], [1, 2, 3]] }
-- input { 4294967296i64 4294967296i64 }
-- error: out of memory
-- input { 1i64 4611686018427387920i64 }
-- error: out of memory

-- ==
-- entry: private
-- input { 2i64 3i64 }
-- output { [3i64, 4i64] }
-- input { 2i64 1152921504606846976i64 }
-- error: out of memory
-- input { 2i64 -5i64 }
-- error: Range 0..1..<-5 is invalid

-- ==
-- entry: on_heap
-- input { [3i64, 0i64, 5i64] }
-- output { [6i64, 0i64, 15i64] }
-- input { [5i64, 2305843009213693952i64] }
-- error: out of (device )?memory

-- ==
-- entry: fold
-- input { [1, 2, 3, 4, 5, 6] 2i64 3i64 [1i64, 0i64] }
-- output { [5, 1] }
-- input { empty([0]i32) 4294967296i64 4294967296i64 [1i64, 2147483648i64] }
-- error: Cannot unflatten array of shape \[0\] to array of shape \[4294967296\]\[4294967296\](.|\n)*too_large.fut
-- input { [1, 2, 3, 4] 4611686018427387905i64 4i64 [1i64] }
-- error: Cannot unflatten array of shape \[4\]
-- input { [1, 2, 3, 4, 5] -1i64 -5i64 [0i64] }
-- error: Cannot unflatten array of shape \[5\]

-- ==
-- entry: flat
-- input { 70i64 3i64 }
-- output { 210i64 }
-- input { 4294967296i64 4294967297i64 }
-- error: (Cannot flatten array of shape \[4294967296\]\[4294967297\](.|\n)*too_large.fut)|(out of memory)

-- ==
-- entry: joined
-- input { 2i64 3i64 }
-- output { 5i64 }
-- input { 9223372036854775807i64 1i64 }
-- error: (together have too many(.|\n)*too_large.fut)|(out of memory)

-- ==
-- entry: lengths
-- input { 0i64 3i64 10i64 }
-- output { 4i64 }
-- input { -9223372036854775808i64 9223372036854775807i64 9223372036854775807i64 }
-- output { 2i64 }
-- input { -2i64 9223372036854775807i64 9223372036854775807i64 }
-- output { 2i64 }
-- input { 0i64 1i64 9223372036854775807i64 }
-- error: Range 0..1...9223372036854775807 has too many elements(.|\n)*too_large.fut
-- input { -9223372036854775808i64 -9223372036854775807i64 9223372036854775807i64 }
-- error: has too many elements

-- ==
-- entry: expanded
-- input { [1i64, 0i64, 2i64] }
-- output { [1i64, 2i64, 2i64] }
-- input { [4611686018427387904i64, 4611686018427387904i64, 4611686018427387904i64, 4611686018427387904i64, 5i64] }
-- error: out of memory

entry table (n: i64) (m: i64) : [][]i32 = tabulate_2d n m (\i j -> i32.i64 (i + j))

entry private (n: i64) (m: i64) : []i64 =
  map (\i -> let xs = scan (+) i (iota m) in xs[m - 1]) (iota n)

entry on_heap (ns: []i64) : []i64 =
  map (\n -> let xs = scan (+) 0 (map (+ 1) (iota n)) in if n > 0 then xs[n - 1] else 0) ns

entry fold (xs: []i32) (n: i64) (m: i64) (is: []i64) : []i32 =
  let yss = unflatten (xs :> [n * m]i32)
  in map (\i -> yss[i, i]) is

entry flat (n: i64) (m: i64) : i64 = length (flatten (replicate n (replicate m 1i64)))
entry joined (n: i64) (m: i64) : i64 = length (replicate n 1i64 ++ replicate m 2i64)
entry lengths (a: i64) (b: i64) (c: i64) : i64 = length (a..b...c)

entry expanded (ns: []i64) : []i64 =
  let (_, _, _, elements) = flatmap' (\n -> replicate n n) ns
  in elements
