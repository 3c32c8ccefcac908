-- Adjoints of arrays that all elements of a map read: sums over the elements, without an array for
-- each of them.

def product [m] [q] [n] (xss: [m][q]f64) (yss: [q][n]f64) : [m][n]f64 =
  map (\xs -> map (\ys -> f64.sum (map2 (*) xs ys)) (transpose yss)) xss

-- ==
-- entry: of_products
-- input { [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] [[1.0, 0.0, 2.0], [3.0, 1.0, 0.0]]
--         [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]] }
-- output { [[1.0, 5.0], [0.0, 1.0], [4.0, 6.0]] [[11.0, 5.0, 5.0], [14.0, 8.0, 6.0]] }
-- input { empty([0][2]f64) [[1.0, 0.0, 2.0], [3.0, 1.0, 0.0]] empty([0][3]f64) }
-- output { empty([0][2]f64) [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]] }
entry of_products [m] [q] [n] (xss: [m][q]f64) (yss: [q][n]f64) (seed: [m][n]f64) =
  vjp (\(xss, yss) -> product xss yss) (xss, yss) seed

-- Of what is the same with its arguments exchanged, derivatives by one and by the other argument are
-- the same.
def near [n] [m] (xs: [n][m]f64) (ys: [n][m]f64) =
  and (map2 (\a b -> and (map2 (\x y -> f64.abs (x - y) < 1e-12) a b)) xs ys)

def distances [n] [m] [d] (xs: [n][d]f64) (ys: [m][d]f64) : f64 =
  let near a b = f64.exp (-(a - b) * (a - b))
  in f64.sum (map (\x -> f64.sum (map (\y -> f64.sum (map2 near x y)) ys)) xs)

def nested [n] [m] [d] (xs: [n][d]f64) (ys: [m][d]f64) : [n][m]f64 =
  map (\x ->
         map (\y ->
                let differences = map2 (\a b -> f64.abs (a - b) * a * b) x y
                let largest = f64.maximum differences
                in loop s = largest for i < d do s + x[i] * y[(i + 1) % d] * y[i] * x[(i + 1) % d])
             ys)
      xs

-- ==
-- entry: exchanged
-- input { [[0.1, 0.2, 0.4], [0.9, -0.4, 0.3]] [[0.5, -0.2, 0.7], [0.3, 0.8, 0.6], [1.1, 1.2, -1.3]] }
-- output { true true }
entry exchanged [n] [m] [d] (xs: [n][d]f64) (ys: [m][d]f64) =
  let weight i j = f64.i64 (1 + 3 * i + j)
  let seed = tabulate_2d n m weight
  in ( near (vjp (\ys -> distances xs ys) ys 1) (vjp (\ys -> distances ys xs) ys 1)
     , near (vjp (\ys -> nested xs ys) ys seed) (vjp (\ys -> nested ys xs) ys (transpose seed))
     )

-- Three levels, parts of the array and a part that only some elements read; second derivatives.
-- ==
-- entry: deep
-- input { [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]] [0.5, -1.0, 2.0] }
-- output { [[[1.5, 1.5], [1.5, 1.5]], [[3.5, 3.5], [3.5, 3.5]]] [36.0, 36.0, 62.0]
--          [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]] }
entry deep [a] [b] [c] [k] (xsss: [a][b][c]f64) (ws: [k]f64) =
  let f (xsss: [a][b][c]f64) (ws: [k]f64) : [k]f64 =
    map2 (\w i ->
            let all = f64.sum (map f64.sum (map (map (\xs -> f64.sum (map (* w) xs))) xsss))
            in if i == 2 then all + w * f64.sum (flatten xsss[1]) else all)
         ws (iota k)
  let (dx, dw) = vjp (\(xsss, ws) -> f xsss ws) (xsss, ws) (replicate k 1)
  let second = vjp (\xsss -> vjp (f xsss) ws (replicate k 1)) xsss (map (\i -> f64.bool (i == 0)) (iota k))
  in (dx, dw, second)
