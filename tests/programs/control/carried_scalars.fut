-- Scalars that loops carry from turn to turn: some that only kernels need, some that the host asks for.
-- ==
-- entry: sums
-- input { [1, 2, 3, 9] 0 }
-- output { [1i32, 2i32, 3i32, 9i32] 7i32 1000i32 }
-- input { [1, 2, 3, 9] 1 }
-- output { [10i32, 13i32, 16i32, 34i32] 73i32 34i32 }
-- input { [1, 2, 3, 9] 7 }
-- output { [14i32, 5i32, 2i32, 14i32] 35i32 14i32 }

-- ==
-- entry: from_a_kernel
-- input { [1f32, 2f32] 0i64 }
-- output { [1f32, 2f32] 3f32 }
-- input { [1f32, 2f32] 4i64 }
-- output { [8.4375f32, 9.4375f32] 8.4375f32 }

-- ==
-- entry: nested
-- input { [1, 2, 3] 1 }
-- output { [3i32, 4i32, 5i32] 8i32 }
-- input { [1, 2, 3] 5 }
-- output { [323i32, 324i32, 325i32] 648i32 }

-- ==
-- entry: narrow
-- input { [1, 2, 3] 0 }
-- output { [1i32, 2i32, 3i32] false 3i8 }
-- input { [1, 2, 3] 1 }
-- output { [4i32, 5i32, 6i32] false 6i8 }
-- input { [1, -2, 3] 6 }
-- output { [198i32, 195i32, 200i32] true 13i8 }

-- ==
-- entry: changing_places
-- input { [1, 2, 3] 0 }
-- output { 1i32 2i32 3i32 }
-- input { [1, 2, 3] 1 }
-- output { 2i32 9i32 4i32 }
-- input { [1, 2, 3] 2 }
-- output { 9i32 3i32 3i32 }
-- input { [1, 2, 3] 5 }
-- output { 81i32 2187i32 2187i32 }

-- ==
-- entry: asked_for
-- input { [1, 2] 0 }
-- output { [1i32, 2i32] 0i32 0i32 }
-- input { [1, 2] 100 }
-- output { [56i32, 57i32] 113i32 10i32 }

-- ==
-- entry: one_by_one
-- input { [1, 2, 3] 0i64 }
-- output { 5i32 [1i32, 2i32, 3i32] }
-- input { [1, 2, 3] 5i64 }
-- output { 605i32 [302i32, 303i32, 304i32] }

entry sums [n] (xs: [n]i32) (steps: i32) : ([n]i32, i32, i32) =
  loop (xs, sum, most) = (xs, 7, 1000) for _i < steps do
    let ys = map (\x -> (x * 3 + sum) % (most | 1)) xs
    in (ys, i32.sum ys, i32.maximum ys)

entry from_a_kernel [n] (xs: [n]f32) (steps: i64) : ([n]f32, f32) =
  loop (xs, s) = (xs, f32.sum xs) for _i < steps do
    let ys = map (\x -> x + f32.max s 2 * 0.5) xs
    in (ys, f32.maximum ys - 1)

entry nested [n] (xs: [n]i32) (steps: i32) : ([n]i32, i32) =
  loop (xs, s) = (xs, 2) for i < steps do
    let (ys, t) = loop (ys, t) = (xs, s) for _j < i do (map (\y -> y - (t & 3)) ys, i32.sum ys)
    in (map (+ s) ys, i32.sum xs + t)

entry narrow [n] (xs: [n]i32) (steps: i32) : ([n]i32, bool, i8) =
  loop (xs, any, c) = (xs, false, 3) for _i < steps do
    (map (\x -> x + i32.bool any + i32.i8 c) xs, or (map (> 5) xs), i8.sum (map i8.i32 xs))

entry changing_places [n] (xs: [n]i32) (steps: i32) : (i32, i32, i32) =
  let (_, a, b, c) = loop (ys, a, b, c) = (xs, 1, 2, 3) for _i < steps do
    let zs = map (\y -> y * a - b + c) ys
    in (zs, b, i32.sum zs, i32.maximum zs)
  in (a, b, c)

entry asked_for [n] (xs: [n]i32) (limit: i32) : ([n]i32, i32, i32) =
  loop (xs, sum, turns) = (xs, 0, 0) while sum < limit do
    let ys = map (\x -> x + 1 + turns) xs
    in (ys, i32.sum ys, turns + 1)

entry one_by_one [n] (xs: [n]i32) (steps: i64) : (i32, [n]i32) =
  loop (last, xs) = (5, xs) for i < steps do
    let ys = map (+ last) xs
    in (i32.sum (take (i % n + 1) ys) % 1000, ys)
