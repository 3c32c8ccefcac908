-- Loops that read arrays at indices and add up: the way back is a map, whatever stands around. Reverse mode
-- against forward mode, direction by direction.

def agrees [n] (f: [n]f64 -> f64) (xs: [n]f64) : bool =
  let by_direction = tabulate n (\i -> jvp f xs (tabulate n (\j -> f64.bool (i == j))))
  in and (map2 (\a b -> f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)) (vjp f xs 1) by_direction)

-- ==
-- entry: bounds bodies nests narrow branches places
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }

-- How often the loop runs differs between the elements of the map around.
entry bounds [n] (xs: [n]f64) : bool =
  let of (count: i64 -> i64) = agrees (\ys ->
      f64.sum (tabulate n (\i ->
        let s = loop s = 0 for j < count i do s + ys[j] * ys[(i + j) % n]
        in s * s))) xs
  let ends = tabulate n (\i -> i * i % (n + 1))
  let total = agrees (\ys -> loop s = 1 for j < n do s + ys[j] * ys[n - 1 - j]) xs
  let short = agrees (\ys -> f64.sum (map (\i ->
      loop s = ys[i] for j < i32.i64 i do s + ys[i64.i32 j] * ys[i64.i32 j]) (iota n))) xs
  in of (\i -> i) && of (\i -> i + 1) && of (\i -> n - i) && of (\i -> n - 1 - i) && of (\_ -> n)
     && of (\i -> ends[i]) && of (\i -> i - 2) && total && short

-- What a turn does: it subtracts, branches, counts something else; or it is not independent of the others.
entry bodies [n] (xs: [n]f64) : bool =
  let of (turn: [n]f64 -> i64 -> i64 -> f64 -> f64) = agrees (\ys ->
      f64.sum (tabulate n (\i -> f64.sin (loop s = 1 for j < i do turn ys i j s)))) xs
  let counting = agrees (\ys -> f64.sum (map (\i ->
      (loop (s, t, at) = (0, ys[i], i) for _j < n do
         (s + ys[at] * ys[i], t - ys[(at + 1) % n], (at * 5 + 1) % n)).0) (iota n))) xs
  let many (ys: [n]f64) (i: i64) (s: f64) =
    s + f64.exp (ys[0] * ys[i] + ys[i] * ys[1 % n] + ys[2 % n] * ys[i] + ys[3 % n] * ys[4 % n]
                 + ys[5 % n] * ys[6 % n] + ys[7 % n] * ys[8 % n] + ys[9 % n] * ys[10 % n]
                 + ys[11 % n] * ys[12 % n] + ys[13 % n] * ys[14 % n] + ys[15 % n]) / 100000
  in of (\ys i j s -> s - ys[i] * ys[j] + 2)
     && of (\ys i j s -> if j % 2 == 0 then s + ys[j] else s - ys[i] * ys[i] * ys[j])
     && of (\ys i j s -> if ys[j] > 1 then s + ys[j] * ys[j] else s)
     && of (\ys _ j s -> (if j % 2 == 0 then s else 0) + s * 0.1 + ys[j])
     && of (\ys _ j s -> (if j % 2 == 0 then s else 0) + s)
     && of (\ys _ j s -> s + ys[j] * s)
     && of (\ys i _ _ -> ys[i])
     && of (\ys i j s -> s + f64.i64 j * f64.cos (ys[i] + ys[j]))
     && of (\ys i _ s -> many ys i s)
     && of (\ys i j s -> if j == 1 then many ys i s else s)
     && counting

-- Loops in loops, in maps of maps, over rows that all elements of a map around share.
entry nests [n] (xs: [n]f64) : bool =
  let m = n / 2
  let two (ys: [n]f64) : *[m][2]f64 = copy (unflatten (ys[:m * 2] :> [m * 2]f64))
  in agrees (\ys -> loop s = 0 for i < n do loop t = s for j < i do t + ys[j] * ys[i] - ys[0]) xs
     && agrees (\ys -> f64.sum (tabulate n (\i ->
          loop s = 0 for j < i do s + (loop t = 1 for k < j do t + ys[k] * ys[i]) * ys[j]))) xs
     && agrees (\ys -> f64.sum (tabulate n (\i ->
          loop s = 0 for j < i do (loop t = s for k < j + 1 do t + ys[k] * ys[j] * ys[i])))) xs
     && agrees (\ys -> f64.sum (map (\y ->
          let sums = map (\row -> f64.sum (tabulate 2 (\i ->
            let below = loop s = 0 for j < i do s + row[i + j] * ys[j] * y
            in below * below + row[i] * y))) (two ys)
          in f64.product sums) ys)) xs
     && agrees (\ys -> f64.sum (flatten (tabulate_2d n m (\i j ->
          let rows = two ys
          in f64.exp (loop s = 0 for k < 2 do s + rows[j, k] * rows[(i + k) % m, 1] / 10))))) xs
     && agrees (\ys -> f64.sum (vjp (\zs -> f64.sum (tabulate n (\i ->
          (loop s = 0 for j < i do s + zs[j] * zs[i] * ys[j])))) ys 1)) xs

-- Indices that are read from arrays, some of them the same for all elements of a map around.
def indices_of [n] (at: [n]i64) (xs: [n]f64) : bool =
  agrees (\ys -> f64.sum (tabulate n (\i ->
      let s = loop s = 0 for j < n do s + ys[at[j]] * ys[at[(i + j) % n]]
      in s * s / 100))) xs
  && (n == 0 || agrees (\ys -> f64.sum (map (\y -> ys[at[0]] * y) ys)) xs)

entry places (xs: []f64) : bool =
  let n = length xs
  in indices_of (tabulate n (\i -> i * 7 % n)) (xs :> [n]f64)
     && indices_of (replicate n 0) (xs :> [n]f64)

-- Rows of an array that is from outside of two maps, of which elements or parts count, at indices that are
-- known in the inner map only.
-- ==
-- entry: rows
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0, 0.3, 0.7, 0.9, 1.1, 0.2, 0.4] } output { true }
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }
-- input { empty([0]f64) } output { true }
entry rows [n] (xs: [n]f64) : bool =
  let m = n / 6
  let tables (ys: [n]f64) : *[m][3][2]f64 = copy (unflatten_3d (ys[:m * 3 * 2] :> [m * 3 * 2]f64))
  let of (row: f64 -> [3][2]f64 -> i64 -> f64) =
    agrees (\ys -> let all = tables ys
                   in f64.sum (map (\y -> f64.product (map2 (row y) all (iota m))) ys)) xs
  in of (\y table i -> f64.sum (map (\r -> r * y * r) table[(i * 2 + 1) % 3]))
     && of (\y table i -> f64.sum (map (\k -> table[(i * 2 + k) % 3, k] * y) (iota 2)))
     && of (\y table i -> f64.sum (tabulate 2 (\k -> loop s = 0 for j < k + 1 do s + table[j, (i + k) % 2] * y)))

-- Bounds and sizes below zero, in maps with and without elements.
-- ==
-- entry: negative
-- input { [0.5, 1.25, 2.0] 3i64 } output { true }
-- input { [0.5, 1.25, 2.0] 0i64 } output { true }
-- input { [0.5, 1.25, 2.0] -3i64 } output { true }
-- input { empty([0]f64) -3i64 } output { true }
entry negative [n] (xs: [n]f64) (q: i64) : bool =
  let some = i64.max 0 (i64.min q n)
  let of (f: [n]f64 -> i64 -> f64 -> f64) = agrees (\ys -> f64.sum (map2 (f ys) (iota n) ys)) xs
  let of_some (f: [n]f64 -> f64 -> f64) = agrees (\ys -> f64.sum (map (f ys) ys[:some])) xs
  in of (\ys i y -> y * loop s = 0 for j < q - i do s + y * ys[(i + j) % n])
     && of (\ys i y -> y * loop s = 0 for j < q - i do s + y * ys[j % n])
     && of (\ys _ y -> y * loop s = 0 for j < q do loop s for k < j do s + y * ys[(k + j) % n])
     && of (\ys _ y -> y * loop s = 0 for j < q - 2 do loop s for k < j + 1 do s + y * ys[(k + j) % n])
     && of_some (\ys y -> f64.sum (tabulate q (\j -> loop s = 0 for k < j do s + y * ys[(k + j) % n])))
     && of_some (\ys y -> y * f64.sum (tabulate q (\j -> f64.exp (y * ys[j * 3 % n]))))
     && of_some (\ys y -> y * f64.sum (map (\z -> f64.exp (y * z)) ys[0:q]))
     && agrees (\ys -> if q > 0 then f64.sum (map (\j -> f64.exp ys[j * j % n]) (iota q)) else 1) xs
     && of (\ys i y -> if q > 0 then y * f64.sum (map (\j -> f64.exp (y * ys[(i + j) % n])) (iota q)) else y)

-- Bounds that are no i64, or that the loop itself counts.
entry narrow [n] (xs: [n]f64) : bool =
  let m = i32.i64 n
  let at (ys: [n]f64) (i: i32) = ys[i64.i32 i % n]
  in agrees (\ys -> f64.sum (map (\i ->
       ys[i] * loop s = 0 for j < i32.i64 i do loop s for k < j do s + at ys j * at ys k) (iota n))) xs
     && agrees (\ys -> loop s = 0 for j < m do loop s for k < j + 1 do s + at ys k * at ys j) xs
     && agrees (\ys -> f64.sum (map (\y -> y *
          (loop (s, q) = (0, 1) for _j < n do (loop s for k < q do s + y * ys[k % n], (q + 2) % n)).0) ys)) xs
     && agrees (\ys ->
          (loop (s, q) = (0, 1) for j < n do (loop s for k < q do s + ys[k % n] * ys[j], (q + 2) % n)).0) xs

-- Branches that contribute to parts of arrays.
entry branches [n] (xs: [n]f64) : bool =
  let of (f: [n]f64 -> i64 -> f64) =
    agrees (\ys -> f64.sum (map2 (\i y -> y * (if i % 2 == 0 then f ys i else y)) (iota n) ys)) xs
  let table (ys: [n]f64) = map2 (\x y -> map (\z -> (z + x) * y) xs) xs ys
  in of (\ys _ -> f64.product (copy ys[0:n]))
     && of (\ys _ -> f64.product ys[i64.min n 1:n])
     && of (\ys _ -> f64.product ys[::-1])
     && of (\ys i -> f64.product (table ys)[i, :])
     && of (\ys i -> f64.product (table ys)[:, i])

-- A small table of constants, which each turn reads anywhere.
-- ==
-- entry: tables
-- input { [0.5, 1.25, 2.0, 0.75] } output { true }
entry tables (xs: [4]f64) : bool =
  agrees (\ys -> f64.sum (tabulate 5 (\i -> f64.sin (loop s = 0 for j < 6 do s + ys[(i * j) % 4] * ys[0])))) xs

-- The way back keeps what loops computed in an inner map: sums, over an outer one, of arrays that are made of it.
-- ==
-- entry: kept
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }
-- input { [1.5] } output { true }
-- input { empty([0]f64) } output { true }
entry kept [n] (xs: [n]f64) : bool =
  let triangle = n * (n - 1) / 2
  let of (f: [triangle]f64 -> [n]f64 -> f64) =
    agrees (\ys -> f (tabulate triangle (\i -> ys[i % n] * f64.i64 (i + 1) / 10)) ys) xs
  let below [t] (table: [t]f64) (v: [n]f64) (i: i64) =
    let start = i * (i - 1) / 2
    in loop s = 0 for j < i do s + table[start + j] * v[j]
  in of (\table ys ->
       f64.sum (map (\x -> f64.sum (tabulate n (\i -> f64.sin (below table (map (* x) ys) i)))) xs))
     && of (\table ys ->
       f64.sum (map (\x -> f64.sum (map (\z ->
         let v = map (\y -> y * x - z) ys
         in f64.sum (tabulate n (\i -> (below table v i + v[i]) ** 2))) xs)) xs))
     && of (\_ ys ->
       let m = n / 2
       let pairs = copy (unflatten (ys[:m * 2] :> [m * 2]f64))
       in f64.sum (map (\x -> f64.sum (tabulate m (\i -> f64.sin (f64.sum (map (\y -> y * y + x) pairs[i]))))) xs)
          + f64.sum (map (\x -> f64.sum (map (\row -> f64.sin (f64.sum (map (\y -> y * y * x) (copy row)))) pairs)) xs))
