-- Shadowing, chains of bindings, wildcards and ascriptions.
-- ==
-- entry: shadows
-- input { 1 }
-- output { [1, 2, 4] }

-- ==
-- entry: order
-- input { 3 }
-- output { 21 }

-- ==
-- entry: sizes
-- input { [5, 6, 7] }
-- output { 2i64 [6, 7] }

entry shadows (x: i32) =
  let a = x
  let x = x + 1
  let b = x
  let x = x * 2
  in [a, b, x]

entry order (x: i32) = let y = (let x = x * 2 in x + 1) in let (z: i32) = y * x in z

entry sizes (xs: []i32) =
  let [m] (tail: [m]i32) = xs[1:]
  let _ = m
  in (m, tail)
