-- Threads that read rows of their own: once for each of some other rows, or along them.
-- ==
-- entry: nearest_agrees sums_agree
-- input { 0i64 4i64 3i64 } output { true }
-- input { 5i64 0i64 3i64 } output { true }
-- input { 5i64 4i64 0i64 } output { true }
-- input { 1i64 1i64 1i64 } output { true }
-- input { 7i64 3i64 3i64 } output { true }
-- input { 7i64 4i64 4i64 } output { true }
-- input { 7i64 5i64 5i64 } output { true }
-- input { 33i64 8i64 7i64 } output { true }
-- input { 33i64 12i64 8i64 } output { true }
-- input { 33i64 13i64 9i64 } output { true }
-- input { 130i64 16i64 12i64 } output { true }
-- input { 130i64 17i64 13i64 } output { true }
-- input { 300i64 64i64 31i64 } output { true }
-- input { 300i64 67i64 32i64 } output { true }

def some (i: i64) (j: i64) : i32 = i32.i64 ((i * 7 + j * 13 + i * j) % 23)

def nearest [k] [d] (others: [k][d]f32) (row: [d]f32) : (i64, f32) =
  let distance other = f32.sum (map2 (\x y -> (x - y) * (x - y)) row other)
  let closer (i, x) (j, y) = if y < x || (y == x && j < i) then (j, y) else (i, x)
  in reduce_comm closer (k, f32.inf) (zip (iota k) (map distance others))

-- All differences are small integers, so that sums are exact in any order.
entry nearest_agrees (n: i64) (d: i64) (k: i64) : bool =
  let rows = tabulate_2d n d (\i j -> f32.i32 (some i j))
  let others = tabulate_2d k d (\i j -> f32.i32 (some (i * 3 + 1) j))
  let (found, least) = unzip (map (nearest others) rows)
  let expected i =
    loop (best, x) = (k, f32.inf) for c < k do
      let y = loop y = 0 for j < d do
                let e = some i j - some (c * 3 + 1) j
                in y + e * e
      in if f32.i32 y < x then (c, f32.i32 y) else (best, x)
  in and (tabulate n (\i -> let (best, x) = expected i
                            in best == found[i] && x == least[i]))

def all_but_first [n] [d] 'a (rows: [n][d]a) : [][d]a = if n == 0 then rows else rows[1:]

-- Of several types; of all rows, every second one, and of parts of rows.
entry sums_agree (n: i64) (d: i64) (k: i64) : bool =
  let rows = tabulate_2d n d some
  let weights = tabulate d (\j -> some k j)
  let weigh 't (times: t -> i32 -> t) (sum: [d]t -> t) (row: [d]t) : t =
    sum (map2 times row weights)
  let of_i64 = map (weigh (\x w -> x * i64.i32 w) i64.sum) (map (map i64.i32) rows)
  let of_u8 = map (weigh (\x w -> x * u8.i32 w) u8.sum) (map (map u8.i32) rows)
  let of_f64 = map (weigh (\x w -> x * f64.i32 w) f64.sum) (map (map f64.i32) rows)
  let of_every_second = map i32.sum (all_but_first rows)[::2]
  let of_parts = map (\row -> i32.sum row[d / 4:]) rows
  let expected i = loop s = 0 for j < d do s + some i j * some k j
  let plain i from = loop s = 0 for j in from..<d do s + some i j
  in and (tabulate n (\i -> of_i64[i] == i64.i32 (expected i) && of_u8[i] == u8.i32 (expected i)
                            && of_f64[i] == f64.i32 (expected i)
                            && of_parts[i] == plain i (d / 4)))
     && and (tabulate (length of_every_second) (\i -> of_every_second[i] == plain (1 + 2 * i) 0))
