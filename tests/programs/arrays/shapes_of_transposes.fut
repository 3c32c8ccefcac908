-- Transposes of matrices whose shape is known at run time only: with few rows or few columns, with
-- one or none, whole and in part, of elements of every width. Each element is looked for where it
-- came from.
-- ==
-- entry: bytes halves words doubles bools row parts turned
-- input { } output { true }

def shapes : [](i64, i64, i64) =
  [ (1, 1, 5003), (3, 1, 1001), (2, 2003, 1), (1, 0, 7), (1, 7, 0), (0, 3, 3), (1, 3, 3001)
  , (1, 3004, 3), (2, 10, 800), (2, 800, 10), (1, 31, 301), (2, 304, 31), (1, 63, 301)
  , (1, 4096, 2), (1, 2, 4096), (1, 33, 100) ]

def numbers 't (f: i64 -> t) (n: i64) : [n]t =
  #[opaque] map (\i -> f ((i * 2654435761) ^ (i >> 3))) (iota n)

-- Made before it is read.
def made 't (xs: t) : t = #[opaque] xs

def all_of (k: i64) (n: i64) (m: i64) (f: i64 -> i64 -> i64 -> bool) : bool =
  all (\p -> f (p / (n * m)) (p / m % n) (p % m)) (iota (k * n * m))

def is_turned [k] [n] [m] 't (eq: t -> t -> bool) (xs: [k][n][m]t) (ys: [k][m][n]t) : bool =
  all_of k m n (\a i j -> ys[a, i, j] `eq` xs[a, j, i])

def all_shapes 't (eq: t -> t -> bool) (f: i64 -> t) : bool =
  loop ok = true for (k, n, m) in shapes do
    let xs = unflatten_3d (numbers f (k * n * m))
    in ok && is_turned eq xs (made (map transpose xs))

entry bytes = all_shapes (==) u8.i64
entry halves = all_shapes (==) i16.i64
entry words = all_shapes (==) i32.i64
entry doubles = all_shapes (==) f64.i64
entry bools = all_shapes (==) (\i -> i % 3 == 0)

-- So long that threads take several vectors.
entry row =
  let (k, n) = #[opaque] (1, 1)
  let xs = unflatten_3d (numbers u8.i64 (k * n * 300007))
  in is_turned (==) xs (made (map transpose xs))

-- Rows and columns that begin anywhere; a result that is part of an array.
entry parts =
  loop ok = true for (k, n, m) in shapes do
    let xs = unflatten_3d (numbers u8.i64 ((k + 1) * (n + 3) * (m + 5)))
    let part = xs[1:, 2:n + 2, 1:m + 1] :> [k][n][m]u8
    let columns = xs[1:, :, 4:m + 4] :> [k][n + 3][m]u8
    let rows = xs[1:, 3:, :] :> [k][n][m + 5]u8
    let all = made ([255u8] ++ flatten_3d (map transpose part))
    in ok
       && is_turned (==) part (made (map transpose part))
       && is_turned (==) columns (made (map transpose columns))
       && is_turned (==) rows (made (map transpose rows))
       && is_turned (==) part (unflatten_3d (all[1:] :> [k * m * n]u8))

-- Dims in another order, of which some have size 1.
entry turned =
  loop ok = true for (k, n, m) in shapes do
    let xs = unflatten_3d (numbers i32.i64 (k * n * m))
    let last = made (transpose (map transpose xs))
    let outer = made (transpose xs)
    let back = made (map transpose (transpose (map transpose xs)))
    in ok
       && all_of m k n (\i a j -> last[i, a, j] == xs[a, j, i])
       && all_of n k m (\j a i -> outer[j, a, i] == xs[a, j, i])
       && all_of m n k (\i j a -> back[i, j, a] == xs[a, j, i])
