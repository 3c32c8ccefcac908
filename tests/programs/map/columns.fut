-- Rows that threads make and that are used as columns: they are stored as these.
-- ==
-- entry: lattice
-- input { 1i64 3i32 } output { true }
-- input { 57i64 4i32 } output { true }
-- input { 5000i64 3i32 } output { true }

-- ==
-- entry: batches planes matrices
-- input { 0i64 4i64 } output { true }
-- input { 3i64 0i64 } output { true }
-- input { 7i64 30i64 } output { true }
-- input { 60i64 70i64 } output { true }

-- ==
-- entry: read_and_turned summed
-- input { 0i64 20i64 } output { true }
-- input { 30i64 1i64 } output { true }
-- input { 3000i64 40i64 } output { true }

-- ==
-- entry: exchanged
-- input { 40i64 } output { true }

-- ==
-- entry: carried
-- input { 0i64 5i64 } output { true }
-- input { 1i64 5i64 } output { true }
-- input { 40i64 9i64 } output { true }
-- input { 3000i64 6i64 } output { true }

-- ==
-- entry: overwritten
-- input { [[[1, 2, 3], [4, 5, 6]], [[11, 12, 13], [14, 15, 16]]] }
-- output { [[[1, 2, 3], [4, 5, 6]], [[11, 12, 13], [14, 15, 16]]]
--          [[[9, 4], [2, 5], [3, 6]], [[9, 14], [12, 15], [13, 16]]]
--          [[[7, 4], [2, 5], [3, 6]], [[7, 14], [12, 15], [13, 16]]] }

def equal [n] [m] (xs: [n][m]i32) (ys: [n][m]i32) : bool =
  and (map2 (\x y -> and (map2 (==) x y)) xs ys)

def equal_3d [n] [m] [k] (xs: [n][m][k]i32) (ys: [n][m][k]i32) : bool = and (map2 equal xs ys)

-- In memory, since a loop updates it.
def stored [n] [m] [k] (xs: [n][m][k]i32) : [n][m][k]i32 =
  loop ys = copy xs for i < (if m * k > 0 then n else 0) do ys with [i, m - 1, k - 1] = xs[i, m - 1, k - 1]

-- A step of nine numbers at each of n points: the edges keep theirs, which a thread copies.
def step_of [n] (state: [9][n]i32) (i: i64) (k: i64) : i32 =
  if i < 2 || i >= n - 2 then state[k, i]
  else state[k, i + k % 3 - 1] * 3 + state[(k + 1) % 9, i + (k + 1) % 3 - 1]

entry lattice (n: i64) (steps: i32) : bool =
  let start = opaque (tabulate_2d 9 n (\k i -> i32.i64 (k * 31 + i * 7 % 1013)))
  let by_rows =
    loop (state: [9][n]i32) = start for _i < steps do
      let row i : [9]i32 =
        #[sequential]
        if i < 2 || i >= n - 2 then state[:, i]
        else let near = map (\k -> state[k, i + k % 3 - 1]) (iota 9)
             in map (\k -> near[k] * 3 + near[(k + 1) % 9]) (iota 9)
      in transpose (tabulate n row)
  let by_elements =
    loop (state: [9][n]i32) = start for _i < steps do
      let here = copy state
      in tabulate_2d 9 n (\k i -> step_of here i k)
  in equal by_rows by_elements

def row_of (i: i64) (k: i64) : i32 = i32.i64 (i * 17 + k * k)

def loop_row (m: i64) (i: i64) : [m]i32 =
  loop row = replicate m (i32.i64 i) for k < m do
    row with [k] = row_of i k + (if k > 0 then row[k - 1] & 1 else 0)

def entry_of (i: i64) (k: i64) : i32 =
  -- What loop_row has at k.
  let (now, _) = loop (now, k') = (0, 0) while k' <= k do (row_of i k' + (if k' > 0 then now & 1 else 0), k' + 1)
  in now

entry batches (n: i64) (m: i64) : bool =
  let rows = tabulate n (\b -> transpose (tabulate m (\i -> loop_row 12 (b * m + i))))
  in equal_3d (stored rows) (tabulate_3d n 12 m (\b k i -> entry_of (b * m + i) k))

entry planes (h: i64) (w: i64) : bool =
  let pixel i j = [i32.i64 (i ^ j), i32.i64 (i * 3 + j), i32.i64 (j - i)]
  let picture = tabulate_2d h w pixel
  in equal_3d (stored (transpose (map transpose picture))) (tabulate_3d 3 h w (\c i j -> (pixel i j)[c]))

entry matrices (n: i64) (m: i64) : bool =
  let matrix x = #[sequential] tabulate_2d 3 4 (\i j -> row_of x (i * 4 + j))
  let all = tabulate (n * m) matrix
  in equal_3d (stored (map transpose (transpose all))) (tabulate_3d 3 4 (n * m) (\i j x -> row_of x (i * 4 + j)))

-- The rows are read as well, by threads for each of them.
entry read_and_turned (n: i64) (m: i64) : bool =
  let rows = tabulate n (loop_row m)
  let last = map (\row -> loop a = 0 for x in row do a * 3 + x) rows
  let turned = stored [transpose rows]
  in equal turned[0] (tabulate_2d m n (\k i -> entry_of i k))
     && and (map2 (\i l -> l == loop a = 0 for k < m do a * 3 + entry_of i k) (iota n) last)

-- They are summed up by columns, and not turned.
entry summed (n: i64) (m: i64) : bool =
  let rows = tabulate n (loop_row m)
  let sums = reduce (map2 (+)) (replicate m 0) rows
  in and (tabulate m (\k -> sums[k] == i32.sum (tabulate n (\i -> entry_of i k))))

-- Branches that exchange arrays, of which one is made where the other is wanted.
entry exchanged (n: i64) : bool =
  let run i =
    let (a, b) =
      loop (a: [6]i32, b: [6]i32) = (replicate 6 (i32.i64 i), map i32.i64 (iota 6)) for k < 9 do
        if (i + k) % 3 == 0 then (map (\x -> x * 3 + i32.i64 k) a, b) else (b, a)
    in (a, b)
  let element i j =
    let (x, y, _) =
      loop (x, y, k) = (i32.i64 i, i32.i64 j, 0) while k < 9 do
        let (x, y) =
          if (i + k) % 3 == 0 then (x * 3 + i32.i64 k, y) else (y, x)
        in (x, y, k + 1)
    in (x, y)
  let (xs, ys) = unzip (map run (iota n))
  in equal (stored [transpose xs])[0] (tabulate_2d 6 n (\j i -> (element i j).0))
     && equal ys (tabulate_2d n 6 (\i j -> (element i j).1))

-- Rows that loops carry: a turn reads of the rows beside its own, a second loop goes on with what the first one leaves,
-- a third one reads along them, and the last one ends when its rows say so.
entry carried (n: i64) (turns: i64) : bool =
  let here i k = (i * 9 + k) % 4001
  let first = opaque (tabulate_2d n 9 (\i k -> i32.i64 (here i k)))
  let beside (rows: [n][9]i32) i k = rows[(i + k % 3 - 1) % n, k] + rows[i, (k + 4) % 9] % 5
  let by_rows f start = loop (rows: [n][9]i32) = start for _i < turns do
                          tabulate n (\i -> #[sequential] map (f rows i) (iota 9))
  let by_elements f start = loop (rows: [n][9]i32) = start for _i < turns do
                              flatten (tabulate_2d n 9 (f (copy rows))) |> unflatten
  let also rows i k = beside rows (n - 1 - i) k * 3
  let along (rows: [n][9]i32) i k = i32.sum rows[i] + rows[i, k]
  let (a, b) = (by_rows also (by_rows beside first), by_elements also (by_elements beside first))
  let (c, d) = (by_rows along a, by_elements along b)
  let until (rows: [n][9]i32) = n > 0 && rows[0, 3] % 8 != 7
  let (e, _) = loop (rows, t) = (a, 0) while t < 20 && until rows do
                 (tabulate n (\i -> #[sequential] map (\k -> beside rows i k + 1) (iota 9)), t + 1)
  let (f, _) = loop (rows, t) = (b, 0) while t < 20 && until rows do
                 (tabulate_2d n 9 (\i k -> beside rows i k + 1), t + 1)
  in equal a b && equal c d && equal e f

entry overwritten [n] [m] [k] (xs: [n][m][k]i32) : ([n][m][k]i32, [n][k][m]i32, [n][k][m]i32) =
  let ys = map transpose xs
  let zs = loop ys = copy ys for i < n do ys with [i, 0, 0] = 9
  let us = loop ys = map transpose xs for i < n do ys with [i, 0, 0] = 7
  in (xs, zs, us)
