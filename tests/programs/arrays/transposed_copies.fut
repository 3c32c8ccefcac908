-- Copies of arrays that lie in memory in another order: transposes of all kinds.
-- ==
-- entry: t2
-- input { [[1,2,3],[4,5,6]] } output { [[1,4],[2,5],[3,6]] }
-- random input { [77][130]i32 } auto output
-- random input { [0][130]i32 } auto output
-- random input { [130][0]i32 } auto output
-- random input { [1030][9]i32 } auto output
-- ==
-- entry: tb
-- random input { [5][77][30]u8 } auto output
-- ==
-- entry: tmap
-- random input { [5][37][30]i64 } auto output
-- ==
-- entry: roll
-- random input { [5][37][30]f32 } auto output
-- ==
-- entry: part
-- random input { [70][37]f64 } auto output
-- ==
-- entry: up
-- random input { [70][70]i16 } auto output
-- ==
-- entry: of_reversed_bytes
-- random input { [200][132]u8 } auto output
-- ==
-- entry: of_reversed_halves
-- random input { [200][132]i16 } auto output
entry t2 (xs: [][]i32) = copy (transpose xs)
entry tb (xs: [][][]u8) = copy (map transpose xs)
entry tmap (xs: [][][]i64) = map (\x -> map (map (+1)) (copy (transpose x))) xs
entry roll (xs: [][][]f32) = copy (transpose (map transpose xs))
entry part (xs: [][]f64) = copy (transpose (xs[3:40,2:30]))
entry up (xs: *[70][70]i16) = let t = copy (transpose xs) let t[3:63, 5:65] = transpose (copy t[0:60,0:60]) in t
entry of_reversed_bytes (xs: [][]u8) = transpose (copy xs)[::-1]
entry of_reversed_halves (xs: [][]i16) = transpose (copy xs)[::-1]
