-- What a derivative needs is checked, also where nothing is left of the function itself.
-- ==
-- entry: forwards backwards by_another in_a_loop
-- input { 1.5 2.0 }
-- error: Assertion is false
-- input { 1.5 7.0 } auto output

-- ==
-- entry: in_a_map
-- input { [1.5, 2.0] 2.0 }
-- error: Assertion is false
-- input { [1.5, 2.0] 7.0 }
-- output { [7.0, 7.0] }

-- ==
-- entry: hole
-- input { 1.5 }
-- error: hole
-- input { -1.5 }
-- output { 0.0 }

-- The squares of these are no halves.
-- ==
-- entry: by_halves
-- input { 1000f16 250f16 }
-- output { -0.016f16 }

def f (y: f64) (x: f64) = if y > 0 then x * assert (y > 5) y else 0

entry forwards (x: f64) (y: f64) : f64 = jvp (f y) x 1
entry backwards (x: f64) (y: f64) : f64 = vjp (f y) x 1
entry by_another (x: f64) (y: f64) : f64 = vjp (f y) x 2
entry in_a_loop (x: f64) (y: f64) : f64 =
  vjp (\x -> loop s = 0 for _i < 3 do s + x * assert (y > 5) y) x 1
entry in_a_map (xs: []f64) (y: f64) : []f64 = map (\x -> jvp (\x -> x * assert (y > 5) y) x 1) xs
entry hole (x: f64) : f64 = vjp (\x -> if x > 0 then x * ??? else 2) x 1
entry by_halves (x: f16) (y: f16) : f16 = vjp (\y -> x / y) y 1
