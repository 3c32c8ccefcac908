-- Derivatives that are known by hand.

-- ==
-- entry: square_forward square_reverse
-- input { 3.0 } output { 6.0 }
entry square_forward (x: f64) : f64 = jvp (\y -> y * y) x 1
entry square_reverse (x: f64) : f64 = vjp (\y -> y * y) x 1

-- A variable from outside is a constant, also where an outer operator differentiates by it.
-- ==
-- entry: outside
-- input { 5.0 } output { 1.0 }
entry outside (x: f64) : f64 = jvp (\y -> y * jvp (\z -> y + z) 1 1) x 1

-- ==
-- entry: third
-- input { 2.0 } output { 48.0 }
entry third (x: f64) : f64 =
  let d f y = vjp f y 1
  in d (d (d (\y -> y ** 4))) x

-- The first of equals is the one that counts, in both modes.
-- ==
-- entry: ties
-- input { [2.0, 5.0, 5.0, 1.0] } output { [0.0, 1.0, 0.0, 0.0] 1.0 0.0 }
entry ties (xs: [4]f64) : ([4]f64, f64, f64) =
  ( vjp f64.maximum xs 1
  , jvp f64.maximum xs [0, 1, 0, 0]
  , jvp f64.maximum xs [0, 0, 1, 0]
  )

-- Of two writes to one element, one counts: the later one.
-- ==
-- entry: same_place
-- input { [1.0, 2.0] } output { [0.0, 1.0] }
entry same_place (xs: [2]f64) : [2]f64 =
  vjp (\ys -> scatter [0, 0] [0, 0] ys) xs [1, 1]

-- A product with a zero has a derivative.
-- ==
-- entry: zeros
-- input { [2.0, 0.0, 3.0] } output { [0.0, 6.0, 0.0] }
-- input { [0.0, 0.0, 3.0] } output { [0.0, 0.0, 0.0] }
-- input { empty([0]f64) } output { empty([0]f64) }
entry zeros [n] (xs: [n]f64) : [n]f64 = vjp f64.product xs 1

-- ==
-- entry: narrow
-- input { 3i8 4i8 } output { 4i8 3i8 }
-- input { 100i8 -3i8 } output { -3i8 100i8 }
entry narrow (x: i8) (y: i8) : (i8, i8) = vjp (\(a, b) -> a * b) (x, y) 1

-- ==
-- entry: halves
-- input { 1.5f16 } output { 3f16 }
entry halves (x: f16) : f16 = vjp (\y -> y * y) x 1

-- ==
-- entry: conversions
-- input { 2.5f32 } output { 5f32 }
entry conversions (x: f32) : f32 = vjp (\y -> f64.f32 y * f64.f32 y) x 1

-- ==
-- entry: records
-- input { 2.0 3.0 } output { 12.0 4.0 }
entry records (x: f64) (y: f64) : (f64, f64) =
  let r = vjp (\(p: {a: f64, b: f64}) -> p.a * p.a * p.b) {a = x, b = y} 1
  in (r.a, r.b)

-- ==
-- entry: sums
-- input { true 3.0 } output { 6.0 }
-- input { false 3.0 } output { 27.0 }
entry sums (c: bool) (x: f64) : f64 =
  let f (s: #square f64 | #cube f64) =
    match s
    case #square y -> y * y
    case #cube y -> y * y * y
  in jvp (\y -> f (if c then #square y else #cube y)) x 1

-- The gamma function: -0.5772156649015329 is minus Euler's constant.
-- ==
-- entry: gamma_functions
-- input { 1.0 } output { -0.5772156649015329 -0.5772156649015329 }
-- input { -0.5 } output { -0.12934 0.03649 }
entry gamma_functions (x: f64) : (f64, f64) =
  let rounded y = if x == 1 then y else f64.trunc (y * 1e5) / 1e5
  in (rounded (vjp f64.gamma x 1), rounded (vjp f64.lgamma x 1))

-- What the program gives as the derivative is taken in reverse mode, and only there.
-- ==
-- entry: own_derivative
-- input { 3.0 } output { 9.0 6.0 109.0 }
entry own_derivative (x: f64) : (f64, f64, f64) =
  let f = with_vjp (\y -> y * y) (\y a -> y + a * 100)
  in (f x, jvp f x 1, vjp f x 1)

-- ==
-- entry: own_derivative_with_tape
-- input { 3.0 } output { 30.0 }
entry own_derivative_with_tape (x: f64) : f64 =
  vjp (with_vjp_tape (\y -> (10 * y, y * y)) (\(tape, a) -> tape * a)) x 1

-- ==
-- entry: bounded
-- input { 3 } output { 12.0 }
-- input { 9 } error: above its bound of 5
entry bounded (n: i32) : f64 =
  vjp (\x -> (#[bound(5)] loop (a, i) = (x, 0) while i < n do (a * x, i + 1)).0) 1.4422495703074083 1
  |> f64.round

-- An index that is out of bounds is found in the derivative's code, too.
-- ==
-- entry: out_of_bounds
-- input { [1.0, 2.0] 1i64 } output { [0.0, 4.0] }
-- input { [1.0, 2.0] 2i64 } error: out of bounds
entry out_of_bounds [n] (xs: [n]f64) (i: i64) : [n]f64 = vjp (\ys -> ys[i] * ys[i]) xs 1

-- A size that is computed inside of the function, from what does not depend on its argument.
-- ==
-- entry: size_inside
-- input { [1i64, 2i64] [3.0, 4.0] } output { [6.0, 24.0] }
entry size_inside (ks: []i64) (xs: [2]f64) : [2]f64 =
  let f (ys: [2]f64) = replicate (i64.sum ks) (ys[0] * ys[0] * ys[1])
  in map (/ 12) (vjp f xs (replicate (i64.sum ks) 1))
  |> map2 (*) [1, 32 / 3]
