-- Nests whose rows differ in length: sums of products (a sparse matrix and a vector), the largest element of each row
-- and where it is, and two sums one after the other. Rows are short, or of all lengths, or few and long.
-- ==
-- entry: products largest variances
-- script input { make_short 50i64 1i64 } auto output
-- script input { make_skewed 300i64 1i64 } auto output
-- script input { make_long 3i64 5000i64 1i64 } auto output

-- ==
-- entry: check_uneven
-- input { 300i64 1i64 } output { true }

import "../random"

def rows_of (n: i64) (m: i64) (seed: i64) (size: i64 -> i64) : ([]i64, []i32, []f32, [m]f32) =
  let offsets = scan (+) 0 (tabulate (n + 1) (\i -> if i == 0 then 0 else size (i - 1)))
  let total = offsets[n]
  in ( offsets, tabulate total (\e -> i32.i64 (random_below m (seed + 1) e))
     , tabulate total (random_f32 (seed + 2)), tabulate m (random_f32 (seed + 3)))

-- | n rows of 1 to 31 elements: where each begins and the last one ends, columns, values, a vector.
entry make_short (n: i64) (seed: i64) : ([]i64, []i32, []f32, [n]f32) =
  rows_of n n seed (\i -> 1 + random_below 31 seed i)

-- | One row in x has more than x elements.
entry make_skewed (n: i64) (seed: i64) : ([]i64, []i32, []f32, [n]f32) =
  rows_of n n seed (\i -> n / (1 + random_below n seed i))

-- | Rows of fewer elements than this.
entry make_long (n: i64) (most: i64) (seed: i64) : ([]i64, []i32, []f32, []f32) =
  rows_of n 100000 seed (random_below most seed)

entry products [n] [m] [k] (offsets: [n]i64) (columns: [m]i32) (values: [m]f32) (vector: [k]f32) : []f32 =
  tabulate (n - 1) (\i ->
    let from = offsets[i]
    let to = offsets[i + 1]
    in f32.sum (map2 (\c v -> v * vector[i64.i32 c]) columns[from:to] values[from:to]))

entry largest [n] [m] [k] (offsets: [n]i64) (columns: [m]i32) (values: [m]f32) (_: [k]f32) : ([]f32, []i32) =
  let larger (a: f32, i: i32) (b, j) = if b > a then (b, j) else (a, i)
  in unzip (tabulate (n - 1) (\i ->
       let from = offsets[i]
       let to = offsets[i + 1]
       in reduce larger (-1, -1) (zip values[from:to] columns[from:to])))

entry variances [n] [m] [k] (offsets: [n]i64) (_: [m]i32) (values: [m]f32) (_: [k]f32) : []f32 =
  tabulate (n - 1) (\i ->
    let row = values[offsets[i]:offsets[i + 1]]
    let count = f32.i64 (offsets[i + 1] - offsets[i])
    let mean = f32.sum row / count
    in f32.sum (map (\x -> (x - mean) ** 2) row) / count)

-- The rows by loops.
entry check_uneven (n: i64) (seed: i64) : bool =
  let (offsets, columns, values, vector) = make_skewed n seed
  let row_sum f i = loop sum = 0f64 for e < offsets[i + 1] - offsets[i] do sum + f64.f32 (f (offsets[i] + e))
  let close a b = f64.abs (f64.f32 a - b) <= 1e-3 * (1 + f64.abs b)
  let sums = tabulate n (row_sum (\e -> values[e] * vector[columns[e]]))
  let spreads = tabulate n (\i ->
    let count = f64.i64 (offsets[i + 1] - offsets[i])
    let mean = f32.f64 (row_sum (\e -> values[e]) i / count)
    in row_sum (\e -> (values[e] - mean) ** 2) i / count)
  let (values', columns') = largest offsets columns values vector
  in and (map2 close (products offsets columns values vector :> [n]f32) sums)
     && and (map2 close (variances offsets columns values vector :> [n]f32) spreads)
     && and (map3 (\i v c -> any (\e -> values[e] == v && columns[e] == c) (offsets[i]..<offsets[i + 1])
                             && all (\e -> values[e] <= v) (offsets[i]..<offsets[i + 1]))
                  (iota n) (values' :> [n]f32) (columns' :> [n]i32))
