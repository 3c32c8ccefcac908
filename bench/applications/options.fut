-- Prices of options: by the Black-Scholes formula, by binomial trees, and by simulated paths.
-- ==
-- entry: black_scholes
-- script input { make_black_scholes 100i64 1i64 } auto output

-- ==
-- entry: binomial
-- script input { make_binomial 10i64 16i64 1i64 } auto output

-- ==
-- entry: paths
-- script input { make_paths 100i64 8i64 1i64 } auto output

-- ==
-- entry: check_parity check_models
-- input { 64i64 1i64 } output { true }

import "../random"

type option = {spot: f32, strike: f32, years: f32}

def rate : f32 = 0.03
def volatility : f32 = 0.25

def random_option (seed: i64) (i: i64) : option =
  { spot = 20 + 80 * random_f32 seed i
  , strike = 20 + 80 * random_f32 (seed + 1) i
  , years = 0.25 + 4 * random_f32 (seed + 2) i }

-- The normal distribution, from a rational approximation of its tail.
def normal (x: f32) : f32 =
  let t = 1 / (1 + 0.2316419 * f32.abs x)
  let poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  let tail = 0.39894228 * f32.exp (-0.5 * x * x) * poly
  in if x > 0 then 1 - tail else tail

def call_and_put (o: option) : (f32, f32) =
  let root = volatility * f32.sqrt o.years
  let d1 = (f32.log (o.spot / o.strike) + (rate + 0.5 * volatility * volatility) * o.years) / root
  let d2 = d1 - root
  let present = o.strike * f32.exp (-rate * o.years)
  in ( o.spot * normal d1 - present * normal d2
     , present * (1 - normal d2) - o.spot * (1 - normal d1))

entry make_black_scholes (n: i64) (seed: i64) : ([n]f32, [n]f32, [n]f32) =
  unzip3 (tabulate n (\i -> let o = random_option seed i in (o.spot, o.strike, o.years)))

entry black_scholes [n] (spots: [n]f32) (strikes: [n]f32) (years: [n]f32) : ([n]f32, [n]f32) =
  unzip (map3 (\spot strike years -> call_and_put {spot, strike, years}) spots strikes years)

-- A European call, backwards through a tree of prices that rise or fall in every step.
def by_tree (depth: i64) (o: option) : f32 =
  let dt = o.years / f32.i64 depth
  let up = f32.exp (volatility * f32.sqrt dt)
  let discount = f32.exp (-rate * dt)
  let rise = (1 / discount - 1 / up) / (up - 1 / up)
  let step = 2 * f32.log up
  let lowest = f32.log o.spot - f32.i64 depth * f32.log up
  let leaves = tabulate (depth + 1) (\i -> f32.max 0 (f32.exp (lowest + f32.i64 i * step) - o.strike))
  let values = loop values = leaves for i < depth do
    loop values for j < depth - i do
      values with [j] = discount * (rise * values[j + 1] + (1 - rise) * values[j])
  in values[0]

entry make_binomial (n: i64) (depth: i64) (seed: i64) : ([n]f32, [n]f32, [n]f32, i64) =
  let (spots, strikes, years) = make_black_scholes n seed
  in (spots, strikes, years, depth)

entry binomial [n] (spots: [n]f32) (strikes: [n]f32) (years: [n]f32) (depth: i64) : [n]f32 =
  map3 (\spot strike years -> by_tree depth {spot, strike, years}) spots strikes years

-- The mean of prices over steps (an Asian call), over paths made from random numbers.
entry make_paths (n: i64) (steps: i64) (seed: i64) : (i64, i64, i64, f32) =
  (n, steps, seed, 1 / f32.i64 steps)

entry paths (n: i64) (steps: i64) (seed: i64) (dt: f32) : f32 =
  let path (i: i64) =
    let walk (price, sum) s =
      let u = random_f32 seed (i * steps + s) + random_f32 (seed + 7) (i * steps + s)
              + random_f32 (seed + 8) (i * steps + s) + random_f32 (seed + 9) (i * steps + s)
      let gauss = (u - 2) * 1.7320508
      let drift = (rate - 0.5 * volatility * volatility) * dt
      let price = price * f32.exp (drift + volatility * f32.sqrt dt * gauss)
      in (price, sum + price)
    let (_, sum) = loop (price, sum) = (50, 0) for s < steps do walk (price, sum) s
    in f32.max 0 (sum / f32.i64 steps - 50)
  in f32.exp (-rate) * (f32.sum (map path (iota n)) / f32.i64 n)

-- A call less a put is worth the price less the strike's present value.
entry check_parity (n: i64) (seed: i64) : bool =
  let options = tabulate n (random_option seed)
  in all (\o -> let (call, put) = call_and_put o
                let parity = o.spot - o.strike * f32.exp (-rate * o.years)
                in f32.abs (call - put - parity) < 0.01)
         options

-- Trees come near the formula.
entry check_models (n: i64) (seed: i64) : bool =
  let options = tabulate n (random_option seed)
  in all (\o -> f32.abs ((call_and_put o).0 - by_tree 64 o) < 0.3) options
