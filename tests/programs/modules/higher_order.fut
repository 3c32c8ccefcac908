-- Parametric modules with module results, lambdas and module parameters with parameters.
-- ==
-- entry: main
-- input { 3 }
-- output { [6, 4, 10] }

module type step = {val step : i32 -> i32}

module twice = \(S: step) -> {def step (x: i32) = S.step (S.step x)}
module doubled = {def step (x: i32) = x * 2}
module inc : step = {def step (x: i32) = x + 1}
module add (N: {val n : i32}) (S: step) : step = {def step x = S.step x + N.n}

module apply (F: step -> step) (S: step) = F S
module twice_inc = apply twice inc

entry main (x: i32) =
  [ doubled.step x
  , inc.step x
  , (let module_result = twice_inc.step x in module_result * 2) ]
