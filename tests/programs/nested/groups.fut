-- A workgroup runs each row, where a program asks for it: pieces of all kinds, one behind the other.
-- ==
-- entry: normalised running mixed
-- input { [[1, 2, 3], [-4, 5, 6]] } auto output
-- input { empty([0][3]i32) } auto output
-- input { empty([3][0]i32) } auto output
-- input { [[7], [8]] } auto output
-- random input { [5][31]i32 } auto output
-- random input { [3][256]i32 } auto output
-- random input { [4][257]i32 } auto output
-- random input { [2][1500]i32 } auto output
-- random input { [1][9000]i32 } auto output
-- ==
-- entry: affine columns turned
-- input { [[1, 2, 3], [-4, 5, 6]] } auto output
-- input { empty([0][3]i32) } auto output
-- input { empty([2][0]i32) } auto output
-- random input { [3][64]i32 } auto output
-- random input { [2][300]i32 } auto output
-- ==
-- entry: steps in_place swapped branches
-- input { 0i64 [[1, 2, 3], [-4, 5, 6]] } auto output
-- input { 1i64 [[1, 2, 3], [-4, 5, 6]] } auto output
-- input { 3i64 [[1, 2, 3], [-4, 5, 6]] } auto output
-- input { 3i64 empty([0][3]i32) } auto output
-- input { 0i64 empty([2][0]i32) } auto output
-- input { 5i64 [[1, 2, 3, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1]] } auto output
-- ==
-- entry: blocks planes
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] } auto output
-- input { empty([0][2][2]i32) } auto output
-- input { [[[1]]] } auto output
-- random input { [3][9][9]i32 } auto output
-- random input { [2][20][20]i32 } auto output

-- A reduction, a map of what it gives, a reduction of that.
entry normalised (xss: [][]i32): []i32 =
  #[flattening(only_intra)]
  map (\xs -> let s = reduce (+) 0 xs
              let ys = map (\x -> x / 3 + s) xs
              in reduce i32.max i32.lowest ys) xss

-- Scans of scans.
entry running (xss: [][]i32): [][]i32 =
  #[flattening(only_intra)]
  map (\xs -> let ys = scan (+) 0 xs
              let zs = scan i32.max i32.lowest (map2 (\x y -> x ^ y) xs ys)
              in map2 (+) zs (reverse ys)) xss

-- Results of rank 0 and 1, some arrays that are only read.
entry mixed [n][m] (xss: [n][m]i32): ([n]i32, [n][m]i32, [n][m]i32, [n]i32) =
  #[flattening(only_intra)]
  map (\xs -> let ys = scan (+) 0 xs
              let s = reduce (^) 0 ys
              let t = reduce i32.min i32.highest (map (\y -> y - s) ys)
              in (s, ys, map2 (\x i -> x + i32.i64 i * t) xs (iota m), t + i32.i64 m)) xss
  |> unzip4

-- An operator that must keep its order, of pairs.
entry affine [n][m] (xss: [n][m]i32): ([n]i32, [n][m]i32) =
  let op (a: i32, b: i32) (c: i32, d: i32) = (a * c, b * c + d)
  in #[flattening(only_intra)]
     map (\xs -> let (_, bs) = unzip (scan op (1, 0) (map (\x -> (x | 1, x)) xs))
                 let (a, b) = reduce op (1, 0) (zip (map (| 1) bs) xs)
                 in (a + b, map (+ b) bs)) xss
     |> unzip

-- Reductions and scans of several rows in a group, and of an operator that knows the group's values.
entry columns [n][m] (xss: [n][m]i32): ([n]i32, [n][4][m]i32) =
  #[flattening(only_intra)]
  map (\xs -> let rows = map (\k -> scan (+) 0 (map (* i32.i64 k) xs)) (iota 4)
              let sums = map (\i -> reduce (+) 0 (map (\k -> rows[k, i]) (iota 4))) (iota m)
              let mask = (1 << (reduce (^) 0 sums & 15)) - 1
              in (reduce (\a b -> (a + b) & mask) 0 (map (& mask) sums), rows)) xss
  |> unzip

-- Views, copies, concatenations.
entry turned [n][m] (xss: [n][m]i32): [n][]i32 =
  #[flattening(only_intra)]
  map (\xs -> let ys = map (* 2) xs
              let zs = scan (+) 0 (reverse ys)
              let both = concat zs ys
              let s = reduce (+) 0 both
              in rotate 1 (map (+ s) both)) xss

-- A loop that carries an array and a scalar.
entry steps [n][m] (k: i64) (xss: [n][m]i32): ([n][m]i32, [n]i32) =
  #[flattening(only_intra)]
  map (\xs -> loop (ys, s) = (xs, 1) for i < k do
                let t = s + reduce (+) 0 ys
                in (scan (+) 0 (map (\y -> y ^ (t + i32.i64 i)) ys), t)) xss
  |> unzip

-- Updates of elements and slices.
entry in_place [n][m] (k: i64) (xss: [n][m]i32): [n][m]i32 =
  #[flattening(only_intra)]
  map (\xs -> loop ys = copy xs for i < i64.min k m do
                let s = reduce (+) 0 ys
                let ys = ys with [i] = s
                let part = map (\y -> y * 3 - s) (take i ys)
                let t = reduce i32.max 0 part
                in ys with [m - 1 - i] = t) xss

-- Two arrays that change places.
entry swapped [n][m] (k: i64) (xss: [n][m]i32): [n][m]i32 =
  #[flattening(only_intra)]
  map (\xs -> let (a, b) = loop (a: [m]i32, b: [m]i32) = (map (+ 1) xs, scan (+) 0 xs) for _i < k do
                             let s = reduce (+) 0 a
                             in (b, map (+ s) a)
              in map2 (\x y -> x - 7 * y) a b) xss

-- Branches that are the same for the whole group.
entry branches [n][m] (k: i64) (xss: [n][m]i32): [n][m]i32 =
  #[flattening(only_intra)]
  map (\xs -> loop ys: [m]i32 = xs for i < k do
                if i % 2 == 0 then scan (+) 0 ys
                else let s = reduce (+) 0 ys in map (\y -> y ^ s) ys) xss

-- Rows of a block are changed one after the other, from those before them.
entry blocks [n][b] (xsss: [n][b][b]i32): [n][b][b]i32 =
  #[flattening(only_intra)]
  map (\m -> loop m = copy m for i < b do
               let row = map (\j -> m[i, j] - (loop s = 0 for k < i do s + m[i, k] * m[k, j]))
                             (iota b)
               let m = m with [i] = row
               let col = map (\j -> if j > i then m[j, i] ^ m[i, i] else m[j, i]) (iota b)
               in m with [:, i] = col) xsss

-- A group for each row of each plane.
entry planes [n][b][c] (xsss: [n][b][c]i32): [n][b][c]i32 =
  #[flattening(only_intra)]
  map (map (\xs -> let s = reduce (+) 0 xs in scan i32.max i32.lowest (map (\x -> x - s) xs))) xsss
