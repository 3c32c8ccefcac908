-- A loop inside a thread with an array that never changes and has no memory of its own.
-- ==
-- input { 3i64 [1i32, 2] } output { [[7i32, 7, 7], [7, 7, 7]] }
entry main (n: i64) (xs: []i32): [][n]i32 =
  map (\x -> (iterate 3 (\(a: [n]i32, k: i32) -> (a, k + x)) (replicate n 7, 0)).0) xs
