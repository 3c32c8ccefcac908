-- For functions that use one rule of differentiation each: both modes leave the result as it is, the
-- forward derivative is that of central differences, and reverse mode is the transpose of forward
-- mode: dy . (J dx) = (J^T dy) . dx.
def close (a: f64) (b: f64) = f64.abs (a - b) <= 1e-6 * (1 + f64.abs a + f64.abs b)

def dot [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)

def holds [n] [m] (f: [n]f64 -> [m]f64) (x: [n]f64) : bool =
  let dx = tabulate n (\i -> f64.i64 ((i * 7 + 3) % 5) - 1.5)
  let y = f x
  let dy = map (\i -> f64.i64 ((i * 5 + 1) % 7) - 2.5) (indices y)
  let (y1, ty) = jvp2 f x dx
  let (y2, ax) = vjp2 f x dy
  let h = 1e-6
  let moved by = f (map2 (\a d -> a + by * d) x dx)
  let slope = map2 (\a b -> (a - b) / (2 * h)) (moved h) (moved (-h))
  in and (map2 (==) y y1)
     && and (map2 (==) y y2)
     && close (dot dy ty) (dot ax dx)
     && and (map2 close ty slope)

-- ==
-- entry: elementwise views copies updates
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }

entry elementwise (xs: [6]f64) : bool =
  holds (map (\x -> f64.sin x * x / (1 + f64.exp x) - f64.sqrt x + f64.log x)) xs
  && holds (map2 (\i x -> if i % 2 == 0 then x ** 3 else f64.max x 1.1) (iota 6)) xs
  && holds (\ys -> [f64.atan2 ys[0] ys[1], f64.hypot ys[2] ys[3], f64.abs (ys[4] - 3)]) xs

entry views (xs: [6]f64) : bool =
  holds (\ys -> reverse ys) xs
  && holds (\ys -> rotate 2 ys) xs
  && holds (\ys -> map2 (*) (sized 3 ys[1:4]) (sized 3 ys[3:6])) xs
  && holds (\ys -> sized 3 ys[5:0:-2]) xs
  && holds (\ys -> flatten (transpose (unflatten (ys :> [2 * 3]f64)))) xs
  && holds (\ys -> map (\i -> ys[i] * ys[5 - i]) [0, 3, 3, 1]) xs

entry copies (xs: [6]f64) : bool =
  holds (\ys -> ys ++ map (* 2) ys) xs
  && holds (\ys -> replicate 4 (ys[1] * ys[2])) xs
  && holds (\ys -> flatten (replicate 3 ys)) xs
  && holds (\ys -> [ys[0], ys[1] * ys[1], 3]) xs
  && holds (\ys -> take 3 (ys ++ ys)) xs

entry updates (xs: [6]f64) : bool =
  holds (\ys -> copy ys with [2] = ys[0] * ys[1]) xs
  && holds (\ys -> copy ys with [1:3] = map2 (*) (ys[3:5] :> [2]f64) (ys[4:6] :> [2]f64)) xs
  && holds (\ys -> let zs = copy ys with [0] = ys[1] * 2
                   let zs = zs with [1] = zs[0] * zs[0]
                   in map (* zs[1]) zs)
           xs

-- ==
-- entry: branches maps loops
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }

entry branches (xs: [6]f64) : bool =
  let of c =
    holds (\ys -> if c then map (* ys[0]) ys else map f64.sin ys) xs
    && holds (\ys -> let zs = copy ys
                     in if c then zs with [3] = ys[0] * ys[1] else zs with [2] = ys[4] * ys[4])
             xs
  in of true && of false
     && holds (\ys -> map (\i -> if i > 2 then ys[i] * ys[0] else ys[1] * ys[1]) (iota 6)) xs
     && holds (\ys -> map (\i -> if i > 2 then f64.sum (map (* ys[0]) ys) else 1) (iota 6)) xs

entry maps (xs: [6]f64) : bool =
  holds (\ys -> let s = ys[0] * ys[1] in map (\y -> y * s + f64.cos s) ys) xs
  && holds (\ys -> map (\y -> f64.sum (map (\z -> z * y * ys[2]) ys)) ys) xs
  && holds (\ys ->
              let m = unflatten (ys :> [2 * 3]f64)
              in flatten (map (\r -> map (\c -> dot r c) m) m))
           xs
  && holds (\ys -> map (\i -> f64.sum (tabulate 3 (\j -> ys[i + j] * ys[j]))) (iota 4)) xs
  && holds (\ys -> map (\i -> f64.sum (map (* ys[i]) (ys[i:i + 2]))) (iota 4)) xs
  && holds (\ys -> let r = i64.f64 (3 * ys[1]) in [f64.sum (map (\i -> ys[0] * f64.i64 i) (r..<10))]) xs

entry loops (xs: [6]f64) : bool =
  holds (\ys -> [loop a = 1 for y in ys do a * y + 0.5]) xs
  && holds (\ys -> loop zs = copy ys for i < 5 do zs with [i + 1] = zs[i] * zs[i + 1]) xs
  && holds (\ys -> loop zs = copy ys for i < 3 do map (\z -> z * ys[i] + f64.sin z) zs) xs
  && holds (\ys -> [(loop (a, i) = (ys[0], 0) while a < 20 && i < 50 do (a * 1.5 + ys[1], i + 1)).0])
           xs
  && holds (\ys -> [loop a = 0 for i < 6 do loop b = a for j < i do b * ys[j] + ys[i]]) xs
  && holds (\ys -> map (\y -> loop a = y for i < 4 do a * ys[i] + y) ys) xs
  && holds (\ys -> map (\y -> let zs = loop zs = copy ys for i < 5 do zs with [i + 1] = zs[i] * y
                              in zs[5]) ys) xs
  && holds (\ys -> loop zs = copy ys for i < 0 do zs with [i] = 0) xs

-- ==
-- entry: reductions scans histograms scatters
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }

def linear (a: f64, b: f64) (c: f64, d: f64) = (a * c, b * c + d)

def matmul2 (a: f64, b: f64, c: f64, d: f64) (e: f64, f: f64, g: f64, h: f64) =
  (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

entry reductions (xs: [6]f64) : bool =
  holds (\ys -> [f64.sum ys, f64.product ys, f64.minimum ys, f64.maximum ys]) xs
  && holds (\ys -> [f64.product (ys ++ [0]), f64.product (take 0 ys), f64.maximum (take 1 ys)]) xs
  && holds (\ys -> let (a, b) = reduce linear (1, 0) (zip ys (reverse ys)) in [a, b]) xs
  && holds (\ys -> reduce (map2 (*)) [1, 1, 1] (unflatten (ys :> [2 * 3]f64))) xs
  && holds (\ys -> reduce (map2 (+)) [0, 0, 0] (unflatten (ys :> [2 * 3]f64))) xs
  && holds (\ys -> map f64.product (unflatten (ys :> [2 * 3]f64))) xs

entry scans (xs: [6]f64) : bool =
  holds (scan (+) 0) xs
  && holds (scan (*) 1) xs
  && holds (scan f64.max f64.lowest) xs
  && holds (\ys -> let (a, b) = unzip (scan linear (1, 0) (zip ys (reverse ys))) in a ++ b) xs
  && holds (\ys ->
              let rows = map (\y -> (y, 1, 0.5, y * y)) ys
              let (a, b, c, d) = unzip4 (scan matmul2 (1, 0, 0, 1) rows)
              in a ++ b ++ c ++ d)
           xs
  && holds (\ys -> flatten (scan (map2 (*)) [1, 1] (unflatten (ys :> [3 * 2]f64)))) xs
  && holds (\ys -> flatten (map (scan (*) 1) (unflatten (ys :> [3 * 2]f64)))) xs

entry histograms (xs: [6]f64) : bool =
  let is = [1, 0, 1, 2, -1, 1]
  let dest ys = map (* 2) (take 3 ys)
  in holds (\ys -> reduce_by_index (dest ys) (+) 0 is ys) xs
     && holds (\ys -> reduce_by_index (dest ys) (*) 1 is ys) xs
     && holds (\ys -> reduce_by_index (dest ys) f64.max f64.lowest is ys) xs
     && holds (\ys -> hist (*) 1 4 [0, 0, 2, 9, 2, 2] ys) xs
     && holds (\ys -> flatten (hist (map2 (+)) [0, 0] 2 [1, 1, 0] (unflatten (ys :> [3 * 2]f64)))) xs
     && holds (\ys -> flatten (hist (map2 (*)) [1, 1] 2 [1, 1, 0] (unflatten (ys :> [3 * 2]f64)))) xs

entry scatters (xs: [6]f64) : bool =
  holds (\ys -> scatter (map (* 2) ys) [4, 0, 2] (map (\y -> y * y) (take 3 ys))) xs
  && holds (\ys -> scatter (map (* 2) ys) [4, 9, -1] (take 3 ys)) xs
  && holds (\ys -> scatter (replicate 4 0) (iota 4) (take 4 ys)) xs
  && holds (\ys -> map (\y -> (scatter (copy ys) [1, 2] [y, y * y])[2]) ys) xs

-- ==
-- entry: second_order many_directions
-- input { [0.5, 1.25, 2.0, 0.75, 1.5, 1.0] } output { true }

def smooth [n] (xs: [n]f64) : f64 =
  f64.product xs + f64.sum (map (\x -> f64.sin (x * xs[0])) xs) + loop a = 1 for x in xs do a * x + x

def unit (n: i64) (i: i64) : [n]f64 = replicate n 0 with [i] = 1

-- The Hessian by all ways, which is symmetric.
entry second_order (xs: [6]f64) : bool =
  let gradient ys = vjp smooth ys 1
  let a = tabulate 6 (\i -> jvp gradient xs (unit 6 i))
  let b = tabulate 6 (\i -> vjp gradient xs (unit 6 i))
  let c = tabulate 6 (\i -> tabulate 6 (\j -> jvp (\ys -> jvp smooth ys (unit 6 i)) xs (unit 6 j)))
  let same x y = and (map2 close (flatten x) (flatten y))
  in same a b && same a c && same a (transpose a) && holds gradient xs

entry many_directions (xs: [6]f64) : bool =
  let f ys = map (\y -> y * f64.product ys) ys
  let units = tabulate 6 (unit 6)
  let same x y = and (map2 (==) (flatten x) (flatten y))
  in same (jmp f xs units) (map (jvp f xs) units)
     && same (mjp f xs units) (map (vjp f xs) units)
     && and (map2 (==) (jmp2 f xs units).0 (f xs))
