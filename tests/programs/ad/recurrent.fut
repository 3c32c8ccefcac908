-- Loops whose turns multiply with the same matrices: what these get is summed up behind the loop, over the rows
-- of all turns. Reverse mode against forward mode, direction by direction.

def agrees [n] (f: [n]f64 -> f64) (xs: [n]f64) : bool =
  let by_direction = tabulate n (\i -> jvp f xs (tabulate n (\j -> f64.bool (i == j))))
  in and (map2 (\a b -> f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)) (vjp f xs 1) by_direction)

def product [n] [m] [k] (a: [n][k]f64) (b: [m][k]f64) : [n][m]f64 =
  map (\x -> map (\y -> f64.sum (map2 (*) x y)) b) a

def total [n] [m] (a: [n][m]f64) : f64 = f64.sum (map f64.sum a)

-- | Numbers between -1 and 1, and parts of them that begin at `from`.
def numbers (count: i64) (seed: i64) : [count]f64 =
  tabulate count (\i -> f64.i64 ((i * 37 + seed * 101) % 29) / 14.5 - 1)
def part [n] (from: i64) (a: i64) (b: i64) (xs: [n]f64) : [a][b]f64 =
  unflatten (take (a * b) (drop from xs))

-- | What a turn makes of the state of `rows` rows, two tables of weights and an offset, all of which are made
-- of the numbers that it is differentiated by.
type^ turn [n][m] = i64 -> [n][m]f64 -> [2][m][m]f64 -> [m]f64 -> [n][m]f64
def of_turns (steps: i64) (rows: i64) (m: i64) (turn: turn [rows][m]) : bool =
  let end = 2 * m * m + m
  let f (xs: [end + rows * m]f64) =
    let tables = [part 0 m m xs, part (m * m) m m xs]
    let offset = flatten (part (2 * m * m) 1 m xs)
    let state = part end rows m xs
    in total (loop state for i < steps do turn i state tables (offset :> [m]f64))
  in agrees f (numbers (end + rows * m) steps)

-- ==
-- entry: layers
-- input { 0i64 2i64 3i64 } output { true }
-- input { 1i64 3i64 2i64 } output { true }
-- input { 4i64 2i64 3i64 } output { true }
-- input { 3i64 3i64 3i64 } output { true }
-- input { 5i64 1i64 2i64 } output { true }
-- input { 3i64 0i64 2i64 } output { true }

def sine [n] [m] : [n][m]f64 -> [n][m]f64 = map (map f64.sin)
def plus [n] [m] : [n][m]f64 -> [n][m]f64 -> [n][m]f64 = map2 (map2 (+))

entry layers (steps: i64) (rows: i64) (m: i64) : bool =
  let of = of_turns steps rows m
  let inputs = tabulate steps (\i -> part 0 rows m (numbers (rows * m) i))
  let fed i a = sine (plus (product a (numbers (m * m) 3 |> part 0 m m)) inputs[i])
  in of (\_ a w _ -> sine (product a w[0]))
     && of (\_ a w b -> sine (map (map2 (+) b) (product a w[1])))
     -- Two sums of the same rows, and of what comes from outside.
     && of (\i a w b -> sine (plus (product a w[0]) (map (map2 (+) b) (product inputs[i] w[1]))))
     -- One table after the other, and the same one twice.
     && of (\_ a w b -> product (sine (product a w[0])) w[1] |> map (map2 (*) b))
     && of (\_ a w _ -> sine (product (sine (product a w[0])) w[0]))
     -- Scaled, as a whole, and used otherwise as well.
     && of (\i a w b -> sine (map (map (* f64.i64 i)) (product a w[0])) |> map (map2 (+) b))
     && of (\_ a w b -> map (\x -> map2 (\t s -> f64.sum (map2 (*) x t) * s) w[0] b) a)
     && of (\_ a w _ -> sine (product a (map2 (map2 (*)) w[0] w[1])))
     && of (\i a w _ -> map (map (+ w[0, 0, 0])) (sine (product a w[0])))
     && of (\i a w _ -> sine (product a w[i % 2]))
     -- The state alone, and what is not linear in the sum.
     && of (\i a w _ -> map2 (map2 (\x y -> x * f64.sin y)) (fed i a) (product a w[0]))
     && of (\_ a w b -> if f64.sum b > 0 then sine (product a w[0]) else product a w[1])

-- ==
-- entry: nested
-- input { 3i64 2i64 2i64 } output { true }
-- input { 0i64 2i64 2i64 } output { true }
-- input { 2i64 3i64 1i64 } output { true }

-- Loops in loops, second derivatives, and two states of different shapes.
entry nested (steps: i64) (rows: i64) (m: i64) : bool =
  let of = of_turns steps rows m
  let loss (w: [m][m]f64) (a: [rows][m]f64) =
    total (loop a for _i < steps do sine (product a w))
  let two (xs: [m * m + m]f64) =
    let w = part 0 m m xs
    let (a, v) =
      loop (a, v) = (part 0 rows m (numbers (rows * m) 1), flatten (part (m * m) 1 m xs) :> [m]f64)
      for _i < steps do
        ( sine (map (map2 (+) v) (product a w))
        , map (\t -> f64.sin (f64.sum (map2 (*) v t))) w)
    in total a + f64.sum v
  in of (\_ a w _ -> loop a for _j < 2 do sine (product a w[0]))
     && of (\_ a w b -> let a = loop a for j < 2 do map (map (+ b[0])) a in sine (product a w[0]))
     && agrees two (numbers (m * m + m) 5)
     && agrees (\xs -> let w = part 0 m m xs
                       in total (vjp (\u -> loss u (part 0 rows m (numbers (rows * m) 2))) w 1))
               (numbers (m * m) 4)
