-- Rows that are summed or scanned: by vectors where their length is a multiple of these.
-- ==
-- entry: sums_agree products_agree scans_agree
-- input { 0i64 4i64 } output { true }
-- input { 5i64 0i64 } output { true }
-- input { 1i64 1i64 } output { true }
-- input { 3i64 5i64 } output { true }
-- input { 40i64 8i64 } output { true }
-- input { 67i64 10i64 } output { true }
-- input { 64i64 31i64 } output { true }
-- input { 64i64 32i64 } output { true }
-- input { 33i64 100i64 } output { true }
-- input { 17i64 126i64 } output { true }
-- input { 9i64 1000i64 } output { true }
-- input { 9i64 1001i64 } output { true }
-- input { 2i64 5000i64 } output { true }
-- input { 2i64 5002i64 } output { true }

def some (i: i64) (j: i64) : i32 = i32.i64 ((i * 7919 + j * 104729 + i * j) % 1009) - 300

def agree [n] [m] (a: [n][m]i32) (b: [n][m]i32) : bool = and (flatten (map2 (map2 (==)) a b))

def rows_of (n: i64) (m: i64) : [n][m]i32 = tabulate_2d n m some

entry sums_agree (n: i64) (m: i64) : bool =
  let rows = rows_of n m
  let weights = tabulate m (some 3)
  let narrow = map (map i16.i32) rows
  let bytes = map (map i8.i32) rows
  let wide = map (map i64.i32) rows
  let expected i =
    loop (a, b, c) = (0, 0, i64.lowest) for j < m do
      (a + some i j, b + some i j * some 3 j, i64.max c (i64.i32 (some i j)))
  let (a, b, c) = unzip3 (map expected (iota n))
  in and (map2 (==) a (map (reduce (+) 0) rows))
     && and (map2 (==) b (map (\row -> reduce (+) 0 (map2 (*) row weights)) rows))
     && and (map2 (==) c (map (reduce i64.max i64.lowest) wide))
     && and (map2 (\x y -> i16.i32 x == y) a (map (reduce (+) 0) narrow))
     && and (map2 (\x y -> i8.i32 x == y) a (map (reduce (+) 0) bytes))

-- Matrices of two rows, whose product does not commute.
type matrix = (i32, i32, i32, i32)

def times ((a, b, c, d): matrix) ((e, f, g, h): matrix) : matrix =
  (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

def matrix_of (x: i32) : matrix = (x, x + 1, 2 * x, 7 - x)

def number ((a, b, c, d): matrix) : i32 = a + 3 * b + 5 * c + 7 * d

entry products_agree (n: i64) (m: i64) : bool =
  let rows = rows_of n m
  let found = map (\row -> number (reduce times (1, 0, 0, 1) (map matrix_of row))) rows
  let expected i =
    number (loop a = (1, 0, 0, 1) for j < m do times a (matrix_of (some i j)))
  let before = map (\row -> map number (scan times (1, 0, 0, 1) (map matrix_of row))) rows
  let last i = if m == 0 then number (1, 0, 0, 1) else before[i, m - 1]
  in and (map2 (==) found (tabulate n expected)) && and (map2 (==) found (tabulate n last))

entry scans_agree (n: i64) (m: i64) : bool =
  let rows = rows_of n m
  let sums i =
    (loop (a, out) = (0, replicate m 0) for j < m do
       let b = a + some i j
       in (b, out with [j] = b)).1
  let (kept, greatest) =
    unzip (map (\row -> let more = map (+ 1) row in (more, scan i32.max i32.lowest more)) rows)
  let maxima i =
    (loop (a, out) = (i32.lowest, replicate m 0) for j < m do
       let b = i32.max a (some i j + 1)
       in (b, out with [j] = b)).1
  let steps = map (\i -> scan (+) 0 (replicate m (i32.i64 i))) (iota n)
  in agree (map (scan (+) 0) rows) (tabulate n sums)
     && agree greatest (tabulate n maxima)
     && agree kept (map (map (+ 1)) rows)
     && agree steps (tabulate_2d n m (\i j -> i32.i64 (i * (j + 1))))
