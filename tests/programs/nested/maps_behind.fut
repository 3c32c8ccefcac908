-- Maps of what scans and reductions make, beside loops that do both.
-- ==
-- entry: flat rows sums pairs wide
-- input { 0i64 3i64 } output { true }
-- input { 1i64 1i64 } output { true }
-- input { 3i64 40i64 } output { true }
-- input { 64i64 64i64 } output { true }
-- input { 2i64 5000i64 } output { true }
-- input { 700i64 9i64 } output { true }

def number (i: i64): i32 = i32.i64 ((i * 7919) % 1009) - 500
def matrix (n: i64) (m: i64): [n][m]i32 = tabulate_2d n m (\i j -> number (i * 31 + j))

def by_loop [n] (xs: [n]i32): [n]i32 =
  (loop (out, s) = (replicate n 0, 0) for i < n do (out with [i] = s + xs[i], s + xs[i])).0

entry flat (n: i64) (m: i64): bool =
  let xs = tabulate (n * m) number
  let ys = map (* 3) xs
  let made = map3 (\s y i -> if y > 0 then s * 2 + y else s - i32.i64 i) (scan (+) 0 xs) ys (iota (n * m))
  let added = by_loop xs
  in and (map2 (\i z ->
       z == (if ys[i] > 0 then added[i] * 2 + ys[i] else added[i] - i32.i64 i)) (iota (n * m)) made)

entry rows (n: i64) (m: i64): bool =
  let xss = matrix n m
  let ys = tabulate n number
  let made = map2 (\xs y -> map2 (\s x -> s * y + x) (scan (+) 0 xs) xs) xss ys
  in and (map3 (\xs y zs -> and (map3 (\s x z -> z == s * y + x) (by_loop xs) xs zs)) xss ys made)

entry sums (n: i64) (m: i64): bool =
  let xss = matrix n m
  let ys = tabulate n number
  let made = map3 (\xs y i -> let s = i32.sum xs in if s > y then s - y else y * i32.i64 i) xss ys (iota n)
  in and (map2 (\i z -> let s = (if m == 0 then 0 else (by_loop xss[i])[m - 1])
                        in z == (if s > ys[i] then s - ys[i] else ys[i] * i32.i64 i)) (iota n) made)

-- Several results, which the map combines; integers wrap around.
entry pairs (n: i64) (m: i64): bool =
  let xss = matrix n m
  let op (a, b) (c, d) = (a * c, b * c + d)
  let made = map (\xs -> map2 (\(a, b) x -> a - 3 * b + x) (scan op (1, 0) (map (\x -> (x, x + 1)) xs)) xs) xss
  in and (map2 (\xs zs ->
       (loop (good, a, b) = (true, 1, 0) for j < m do
          let (a, b) = op (a, b) (xs[j], xs[j] + 1)
          in (good && zs[j] == a - 3 * b + xs[j], a, b)).0) xss made)

-- Of another width than what was added.
entry wide (n: i64) (m: i64): bool =
  let xss = map (map u8.i32) (matrix n m)
  let made = map (\xs -> map (\s -> f64.u8 s / 2) (scan (+) 0 xs)) xss
  let totals = map (\xs -> i64.u8 (u8.sum xs) * 1000) xss
  in and (map2 (\xs zs ->
       (loop (good, s) = (true, 0) for j < m do (good && zs[j] == f64.u8 (s + xs[j]) / 2, s + xs[j])).0) xss made)
     && and (map2 (\xs t -> t == i64.u8 (loop s = 0 for x in xs do s + x) * 1000) xss totals)
