-- Arrays that are put together of others at the points of a nest, beside what their elements should be.
-- ==
-- entry: padded windows repeated literal summed
-- input { 0i64 3i64 } output { true }
-- input { 1i64 1i64 } output { true }
-- input { 3i64 40i64 } output { true }
-- input { 2i64 5000i64 } output { true }
-- input { 700i64 9i64 } output { true }

def matrix (n: i64) (m: i64): [n][m]i32 =
  tabulate_2d n m (\i j -> i32.i64 ((i * 7919 + j * 104729) % 1009) - 500)

def equal [n] [m] (a: [n][m]i32) (f: i64 -> i64 -> i32): bool =
  and (map2 (\i r -> and (map2 (\j x -> x == f i j) (iota m) r)) (iota n) a)

entry padded (n: i64) (m: i64): bool =
  let xss = matrix n m
  let made = map (\r -> [i32.sum r] ++ r ++ [r[0], r[m - 1]] ++ reverse r) xss
  in equal made (\i j ->
       let r = xss[i]
       in if j == 0 then i32.sum r
          else if j <= m then r[j - 1]
          else if j == m + 1 then r[0]
          else if j == m + 2 then r[m - 1]
          else r[2 * m + 2 - j])

entry windows (n: i64) (m: i64): bool =
  let xss = matrix n m
  let made = map (\r -> let p = [r[m - 1]] ++ r ++ [r[0]]
                        in map (\i -> p[i] - 2 * p[i + 1] + p[i + 2]) (iota m)) xss
  in equal made (\i j -> xss[i, (j + m - 1) % m] - 2 * xss[i, j] + xss[i, (j + 1) % m])

entry repeated (n: i64) (m: i64): bool =
  let xss = matrix n m
  let made = map (\r -> let s = scan (+) 0 r in replicate 3 (map (* 2) s)) xss
  in and (map2 (\i rows -> equal rows (\_ j -> 2 * i32.sum (take (j + 1) xss[i]))) (iota n) made)

entry literal (n: i64) (m: i64): bool =
  let xss = matrix n m
  let made = map (\r -> [map (+ 1) r, rotate 1 r, r] ++ [map (\x -> x * x) r]) xss
  in and (map2 (\i rows ->
       equal rows (\k j ->
         let x = xss[i, j]
         in if k == 0 then x + 1 else if k == 1 then xss[i, (j + 1) % m] else if k == 2 then x else x * x))
     (iota n) made)

-- In loops of a thread, and what is overwritten behind.
entry summed (n: i64) (m: i64): bool =
  let xss = matrix n m
  let made = map (\r -> let ys = loop (ys: [m]i32) = r for k < 3 do sized m (tail ys ++ [ys[0] + i32.i64 k])
                        let zs = copy (ys ++ r)
                        in i32.sum (zs with [m] = 7)) xss
  in and (map2 (\r s ->
       let moved = map (\k -> r[k % m] + (if k < 3 then i32.i64 (loop t = 0 for q < 3 do if q % m == k then t + q else t) else 0)) (iota m)
       in s == i32.sum moved + i32.sum r - r[0] + 7) xss made)
