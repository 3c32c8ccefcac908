-- Arrays without memory that are given some: each element at its place, whatever lay there before.
-- (NVIDIA's compiler once computed the places wrongly; memory that is new would have hidden it.)
-- ==
-- entry: main
-- input { [0f64] } output { true }
-- input { [0f64, 1f64, 2f64] } output { true }
-- input { empty([0]f64) } output { true }
entry main [n] (xs: [n]f64): bool =
  let dirty = replicate (125 * n + 1000) 64i8
  let zeros = (loop a = (0f32, replicate 5 (replicate 5 (replicate n 0i8)))
               for _ in xs do (replicate (5 + i64.i8 (dirty[0] - 64)) a)[0]).1
  in all (all (all (== 0))) zeros

-- Numbers taken apart by divisions and put together again.
-- ==
-- entry: apart
-- input { 1000i64 1i64 } output { true true true }
-- input { 1000i64 3i64 } output { true true true }
entry apart (n: i64) (s: i64): (bool, bool, bool) =
  let by_div = map (\i -> let (t, c) = (i / s, i % s) let (a, b) = (t / 5, t % 5)
                          in a * (s * 5) + b * s + c) (iota n)
  let by_quot = map (\i -> let (t, c) = (i // s, i %% s) let (a, b) = (t // 5, t %% 5)
                           in a * (s * 5) + b * s + c) (iota n)
  let by_hand = map (\i -> let t = i / s let c = i - t * s let a = t / 5 let b = t - a * 5
                           in a * (s * 5) + b * s + c) (iota n)
  let right = map2 (==) (iota n)
  in (and (right by_div), and (right by_quot), and (right by_hand))
