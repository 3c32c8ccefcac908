-- Reductions of which several read the same: a thread takes a block of them.
-- ==
-- entry: mm
-- random input { [64][100]i32 [100][70]i32 } auto output
-- random input { [1][100]i32 [100][1]i32 } auto output
-- random input { [1030][9]i32 [9][3]i32 } auto output
-- random input { [30][0]i32 [0][40]i32 } auto output
-- ==
-- entry: batch
-- random input { [50][16][20]i64 [50][20][18]i64 } auto output
-- ==
-- entry: gram
-- random input { [100][33]i32 } auto output
-- ==
-- entry: forces
-- random input { [400]i32 [37]i32 } auto output
-- ==
-- entry: checked
-- random input { [64][100]i32 [100][70]i32 } auto output
-- ==
-- entry: pairs
-- random input { [64][100]i32 [100][70]i32 } auto output
def dot [n] (xs: [n]i32) (ys: [n]i32) = i32.sum (map2 (*) xs ys)
entry mm [n][m][k] (a: [n][m]i32) (b: [m][k]i32) = map (\r -> map (\c -> dot r c) (transpose b)) a
entry batch [q][n][m][k] (a: [q][n][m]i64) (b: [q][m][k]i64) =
  map2 (\a b -> map (\r -> map (\c -> i64.sum (map2 (*) r c)) (transpose b)) a) a b
entry gram [n][m] (a: [n][m]i32) = map (\x -> map (\y -> dot x y) (transpose a)) (transpose a)
entry forces [n][m] (xs: [n]i32) (ys: [m]i32) = map (\x -> i32.sum (map (\y -> (x - y) * (x ^ y)) ys)) xs
entry checked [n][m][k] (a: [n][m]i32) (b: [m][k]i32) =
  map (\i -> map (\j -> i32.sum (map (\p -> a[i, p] * b[p, j]) (iota m))) (iota k)) (iota n)
entry pairs [n][m][k] (a: [n][m]i32) (b: [m][k]i32) =
  map (\r -> map (\c -> reduce (\(x, y) (z, w) -> (x + z, i32.max y w)) (0, i32.lowest) (map2 (\x y -> (x * y, x - y)) r c)) (transpose b)) a |> map unzip |> unzip
