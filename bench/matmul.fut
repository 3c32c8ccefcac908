-- Dense matrices: a product, a transposition, a matrix times a vector.
-- ==
-- entry: product
-- random input { [100][100]f32 [100][100]f32 } auto output
-- random input { [1024][1024]f32 [1024][1024]f32 }
-- random input { [2048][2048]f32 [2048][2048]f32 }

-- ==
-- entry: transposed
-- random input { [100][100]f32 } auto output
-- random input { [4096][4096]f32 }

-- ==
-- entry: times_vector
-- random input { [100][100]f32 [100]f32 } auto output
-- random input { [8192][8192]f32 [8192]f32 }

def dot xs ys = f32.sum (map2 (*) xs ys)

entry product (a: [][]f32) (b: [][]f32) : [][]f32 =
  map (\row -> map (dot row) (transpose b)) a

entry transposed (a: [][]f32) : [][]f32 = map (map (+ 1)) (transpose a)

entry times_vector (a: [][]f32) (x: []f32) : []f32 = map (dot x) a
