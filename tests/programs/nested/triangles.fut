-- Triangular systems: rows that stay in a thread's registers, and matrices of a workgroup.
-- ==
-- entry: check_forward check_backward check_long check_columns check_flat
-- input { 0i64 } output { true }
-- input { 1i64 } output { true }
-- input { 130i64 } output { true }

def number (seed: i64) (i: i64) : i32 = i32.i64 ((i * 7919 + seed * 104729 + 13) % 1009) - 504

-- | Solves l x = b, where l has ones on its diagonal, and what is above that does not count.
def forward [n] (l: [n][n]i32) (b: [n]i32) : [n]i32 =
  loop x = copy b
  for i < n do
    let s = loop s = 0 for k < i do s + l[i, k] * x[k]
    in x with [i] = x[i] - s

-- | The same of the transposed matrix.
def backward [n] (l: [n][n]i32) (b: [n]i32) : [n]i32 =
  loop x = copy b
  for j < n do
    let i = n - 1 - j
    let s = loop s = 0 for k in i + 1..<n do s + l[k, i] * x[k]
    in x with [i] = x[i] - s

def times [n] (l: [n][n]i32) (x: [n]i32) : [n]i32 =
  tabulate n (\i -> x[i] + i32.sum (tabulate n (\k -> if k < i then l[i, k] * x[k] else 0)))

def transposed_times [n] (l: [n][n]i32) (x: [n]i32) : [n]i32 =
  tabulate n (\i -> x[i] + i32.sum (tabulate n (\k -> if k > i then l[k, i] * x[k] else 0)))

def same [m] [n] (a: [m][n]i32) (b: [m][n]i32) : bool = and (map2 (\x y -> and (map2 (==) x y)) a b)

def matrix (n: i64) : [n][n]i32 = tabulate_2d n n (\i k -> number 1 (i * n + k))
def vectors (m: i64) (n: i64) : [m][n]i32 = tabulate_2d m n (\i k -> number 2 (i * n + k))

entry check_forward (m: i64) : bool =
  let l = matrix 12
  let bs = vectors m 12
  in same (map (times l) (map (forward l) bs)) bs

entry check_backward (m: i64) : bool =
  let l = matrix 9
  let bs = vectors m 9
  in same (map (transposed_times l) (map (backward l) bs)) bs

-- | Too long to be written out.
entry check_long (m: i64) : bool =
  let l = matrix 60
  let bs = vectors m 60
  in same (map (times l) (map (forward l) bs)) bs

-- | Columns of a matrix that a workgroup has, whose rows have as many elements as there are banks.
def eliminated (a: [32][32]i32) : [32][32]i32 =
  loop a = copy a
  for k < 31 do
    let factors = map (\i -> if i > k then a[i, k] else 0) (iota 32)
    let row = copy a[k]
    let a[:, k] = map (\i -> if i > k then factors[i] * 3 else a[i, k]) (iota 32)
    in tabulate_2d 32 32 (\i j -> if j > k then a[i, j] - factors[i] * row[j] else a[i, j])

def eliminated_alone (a: [32][32]i32) : [32][32]i32 =
  #[sequential]
  loop a = copy a
  for k < 31 do
    let row = copy a[k]
    in loop a for i in k + 1..<32 do
         let factor = a[i, k]
         let a[i, k] = factor * 3
         in loop a for j in k + 1..<32 do a with [i, j] = a[i, j] - factor * row[j]

def matrices (m: i64) : [m][32][32]i32 = tabulate_3d m 32 32 (\a i j -> number a (i * 32 + j))

entry check_columns (m: i64) : bool =
  let as = matrices (i64.min 3 m)
  in and (map2 same (map eliminated as) (map eliminated_alone as))

-- | As one row, for which the rows of the matrix must lie side by side.
entry check_flat (m: i64) : bool =
  let as = matrices (i64.min 3 m)
  let sums = map (\a -> let t = transpose (map (scan (+) 0) a) in scan (+) 0 (flatten (map (scan (+) 0) t))) as
  let last = map (\a -> i32.sum (map (\k -> i32.sum (map (\i -> i32.sum (map (\j -> i32.sum (take (j + 1) a[i])) (iota 32)) * (32 - i32.i64 i)) (iota 32)) * k) [1])) as
  in and (map2 (\s l -> s[1023] == l) sums last)
