-- Rows of nine that a thread makes: many of them are made side by side, and moved to their places.
-- ==
-- entry: windows
-- input { 7i64 30i64 } output { true }
-- input { 480i64 500i64 } output { true }

def window [h] [w] (xs: [h][w]i32) (i: i64) (j: i64) : [9]i32 =
  if (i ^ j) % 5 == 0 then map (\k -> xs[i, (j + k) % w]) (iota 9)
  else map (\k -> xs[(i + k / 3) % h, (j + k % 3) % w] * 2) (iota 9)

entry windows (h: i64) (w: i64) : bool =
  let xs = tabulate_2d h w (\i j -> i32.i64 (i * 7919 + j * 31 % 97))
  let rows = opaque (tabulate_2d h w (window xs))
  let right i j k =
    rows[i, j, k] == (if (i ^ j) % 5 == 0 then xs[i, (j + k) % w] else xs[(i + k / 3) % h, (j + k % 3) % w] * 2)
  in and (tabulate h (\i -> and (tabulate w (\j -> all (right i j) (iota 9)))))
