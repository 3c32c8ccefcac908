-- Work of one thread that is longer than some drivers let a thread run: llvmpipe ends all loops of
-- a thread after 65,535 turns.

-- ==
-- entry: bins
-- input { 200000i64 } output { [50000i64, 50000, 50000, 50000] }
-- input { 32768i64 } output { [8192i64, 8192, 8192, 8192] }
-- input { 32769i64 } output { [8193i64, 8192, 8192, 8192] }
-- input { 0i64 } output { [0i64, 0, 0, 0] }
entry bins (n: i64): [4]i64 = hist (+) 0 4 (map (% 4) (iota n)) (replicate n 1)

-- A histogram that goes on with bins that are there, of pairs.
-- ==
-- entry: bins_of_pairs
-- input { [100i64, 200] 70000i64 } output { [2449965100i64, 200] [70000i32, 7] }
entry bins_of_pairs (sums: *[2]i64) (n: i64): ([2]i64, [2]i32) =
  let add (a: i64, c: i32) (b: i64, d: i32) = (a + b, i32.max c d)
  in unzip (reduce_by_index (zip sums [5, 7]) add (0, i32.lowest) (replicate n 0)
                            (map (\i -> (i, i32.i64 i + 1)) (iota n)))

-- ==
-- entry: column_sums
-- input { 50000i64 } output { [1249975000i64, 1250025000, 1250075000] }
-- input { 0i64 } output { [0i64, 0, 0] }
entry column_sums (n: i64): [3]i64 =
  reduce (map2 (+)) [0, 0, 0] (tabulate_2d n 3 (+))

-- ==
-- entry: in_place
-- input { 100000i64 } output { 4999950000i64 99999i64 }
-- input { 1i64 } output { 0i64 0i64 }
entry in_place (n: i64): (i64, i64) =
  let xs = loop xs = iota n for i < n - 1 do xs with [i + 1] = xs[i] + xs[i + 1]
  in (xs[n - 1], n - 1)

-- ==
-- entry: carried
-- input { [3i32, 1, 2] 100001i64 } output { 200002i32 1i32 }
entry carried (xs: []i32) (n: i64): (i32, i32) =
  loop (s, last) = (0, -1) for i < n do (s + xs[i % 3], xs[i % 3] - 1 + i32.bool (i == n - 1))

-- Operators on arrays that do not work element by element: one thread reduces and scans.
def sum_in_place [k] (xs: [k]i32) (ys: [k]i32): [k]i32 =
  loop zs = replicate k 0 for i < k do zs with [i] = xs[i] + ys[i]

def counted (n: i64) (k: i64): [n][k]i32 =
  tabulate_2d n k (\i j -> i32.i64 ((i + j) % 3))

-- ==
-- entry: reduced_rows
-- input { 700i64 500i64 } output { [699i32, 700, 701, 699] }
-- input { 0i64 5i64 } output { [0i32, 0, 0, 0] }
entry reduced_rows (n: i64) (k: i64): [4]i32 =
  take 4 (reduce sum_in_place (replicate k 0) (counted n k))

-- The last piece is a short one; scans beside reductions and rows.
-- ==
-- entry: scanned_rows
-- input { 3001i64 40i64 } output { [3000i32, 3001, 3002] [0i32, 1, 2] 3001i64 true }
-- input { 1i64 3i64 } output { [0i32, 1, 2] [0i32, 1, 2] 1i64 true }
entry scanned_rows (n: i64) (k: i64): ([]i32, []i32, i64, bool) =
  let rows = counted n k
  let sums = scan sum_in_place (replicate k 0) rows
  let steps = all (\i -> sums[i][0] == sums[i - 1][0] + rows[i][0]) (1..<n)
  in (take 3 sums[n - 1], take 3 sums[0], length sums, steps)

-- A flag beside the row.
-- ==
-- entry: scanned_segments
-- input { 4000i64 10i64 } output { 999i32 1000i32 0i32 }
entry scanned_segments (n: i64) (k: i64): (i32, i32, i32) =
  let op (_, x) (b, y) = (b, if b then y else sum_in_place x y)
  let rows = map (map (const 1)) (counted n k)
  let flags = map (\i -> i % 1000 == 0) (iota n)
  let (_, sums) = unzip (scan (\(a, x) (b, y) -> let (_, z) = op (a, x) (b, y) in (a || b, z))
                              (false, replicate k 0) (zip flags rows))
  in (sums[998][3], sums[1999][0], sums[n - 1][k - 1] - 1000)

-- Elements that take many turns each, of which a thread would reduce, scan or count many.
def steps (x: i64): i32 =
  (loop (n, x) = (0, x) while x > 1 do (n + 1, if x % 2 == 0 then x / 2 else 3 * x + 1)).0

-- ==
-- entry: longest
-- input { 60000i64 } output { 339i32 }
-- input { 0i64 } output { 0i32 }
entry longest (n: i64): i32 = reduce i32.max 0 (map steps (iota n))

-- ==
-- entry: running
-- input { 20000i64 } output { 1834604i32 0i32 }
entry running (n: i64): (i32, i32) =
  let sums = scan (+) 0 (map steps (iota n))
  in (last sums, sums[1])

-- ==
-- entry: counted_steps
-- input { 20000i64 } output { 20000i64 }
entry counted_steps (n: i64): i64 =
  i64.sum (hist (+) 0 400 (map (i64.i32 <-< steps) (iota n)) (replicate n 1))
