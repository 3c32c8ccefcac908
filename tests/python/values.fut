-- What the tests in Python call.
entry increment [n] (xs: [n]i32): [n]i32 = map (+ 1) xs
entry total [n] (xs: [n]i64): i64 = reduce (+) 0 xs
entry element [n] (xs: [n]i32) (i: i64): i32 = xs[i]
entry halve (x: i32): i32 = assert (x % 2 == 0) (x / 2)

type particle = {mass: f32, at: [3]f64}
entry particle (mass: f32) (x: f64): particle = {mass, at = [x, x + 1, x + 2]}
entry heavier (p: particle): particle = p with mass = p.mass * 2
entry divide (a: i32) (b: i32): (i32, i32) = (a / b, a % b)
