-- Matrices that are turned, by tiles where they are large enough: rows that begin and end at whole
-- words or not, single matrices and several, and dims that lie in memory as one.
-- ==
-- entry: turn_i32 turn_u8 turn_u16 turn_i64
-- compiled script input { numbers 1i64 192i64 260i64 } output { true }
-- compiled script input { numbers 1i64 129i64 67i64 } output { true }
-- compiled script input { numbers 3i64 64i64 136i64 } output { true }
-- compiled script input { numbers 3i64 65i64 34i64 } output { true }

-- ==
-- entry: turn_part turn_behind
-- compiled script input { numbers 3i64 64i64 136i64 } output { true }
-- compiled script input { numbers 2i64 33i64 70i64 } output { true }

entry numbers (n: i64) (h: i64) (w: i64) : [n][h][w]i32 =
  tabulate_3d n h w (\a i j -> i32.i64 ((a * h + i) * w + j))

def is_turned 't [n] [h] [w] (eq: t -> t -> bool) (xs: [n][h][w]t) (ys: [n][w][h]t) : bool =
  and (flatten_3d (tabulate_3d n w h (\a j i -> xs[a, i, j] `eq` ys[a, j, i])))

-- The turned matrices are stored, since a loop updates them.
def stored 't [n] [h] [w] (xs: [n][h][w]t) : [n][w][h]t =
  let ys = copy (map transpose xs)
  in loop ys for a < n do ys with [a, 0, 0] = xs[a, 0, 0]

entry turn_i32 [n] [h] [w] (xs: [n][h][w]i32) : bool = is_turned (==) xs (stored xs)
entry turn_u8 [n] [h] [w] (xs: [n][h][w]i32) : bool =
  let xs = map (map (map u8.i32)) xs in is_turned (==) xs (stored xs)
entry turn_u16 [n] [h] [w] (xs: [n][h][w]i32) : bool =
  let xs = map (map (map u16.i32)) xs in is_turned (==) xs (stored xs)
entry turn_i64 [n] [h] [w] (xs: [n][h][w]i32) : bool =
  let xs = map (map (map i64.i32)) xs in is_turned (==) xs (stored xs)

-- Rows that begin and end elsewhere than the array's.
entry turn_part [n] [h] [w] (xs: [n][h][w]i32) : bool =
  let part = xs[:, 3:, 5:] in is_turned (==) part (stored part)

-- The first dim comes last: all others lie in memory as one.
entry turn_behind [n] [h] [w] (xs: [n][h][w]i32) : bool =
  let ys = copy (transpose (map transpose (transpose xs)))
  let ys = loop ys for j < w do ys with [j, 0, 0] = xs[0, 0, j]
  in and (flatten_3d (tabulate_3d w h n (\j i a -> xs[a, i, j] == ys[j, i, a])))
