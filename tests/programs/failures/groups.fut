-- Failures in what the threads of a workgroup do together: others go on to the barriers.
-- ==
-- entry: in_element
-- input { [[1, 2, 5], [4, 5, 10]] } auto output
-- input { [[1, 2, 5], [4, 0, 10]] }
-- error: division by zero
-- input { empty([0][3]i32) } auto output

-- ==
-- entry: in_loop
-- input { 3i64 [[1, 2, 3], [4, 5, 6]] } auto output
-- input { 4i64 [[1, 2, 3], [4, 5, 6]] }
-- error: out of bounds
-- input { 0i64 [[1, 2, 3], [4, 5, 6]] } auto output

-- ==
-- entry: in_operator
-- input { [[100, 5, 2], [7, 7, 1]] } auto output
-- input { [[100, 5, 2], [7, -1, 1]] }
-- error: Assertion is false

-- ==
-- entry: of_the_group
-- input { [[1, 2, 3], [4, 5, 6]] } auto output
-- input { [[1, 2, 3], [4, 5, -9]] }
-- error: Assertion is false

-- An element of a map fails, with a scan and a reduction behind it.
entry in_element (xss: [][]i32): []i32 =
  #[flattening(only_intra)]
  map (\xs -> let ys = scan (+) 0 (map (100 /) xs)
              let s = reduce i32.max 0 ys
              in reduce (+) 0 (map (\y -> if y == s then y - 20 else 0) ys)) xss

-- What a loop updates comes to its end.
entry in_loop [n][m] (k: i64) (xss: [n][m]i32): [n][m]i32 =
  #[flattening(only_intra)]
  map (\xs -> loop ys = copy xs for i < k do
                let s = reduce (+) 0 (take i ys)
                let zs = map (\y -> y + s) ys
                in if i == 0 then ys else ys with [i] = zs[i] + s + ys[i]) xss

entry in_operator (xss: [][]i32): []i32 =
  #[flattening(only_intra)]
  map (\xs -> let ys = map (\x -> x % 7) xs
              let op a b = assert (a >= 0 && b >= 0) (a + b)
              let zs = scan op 0 (map2 (\x y -> if x < 0 then x else y) xs ys)
              in reduce i32.max 0 zs + reduce i32.min 0 xs + reduce op 0 ys - last ys) xss

-- A check of what a reduction gives, between two pieces.
entry of_the_group (xss: [][]i32): [][]i32 =
  #[flattening(only_intra)]
  map (\xs -> let s = reduce (+) 0 xs
              let t = assert (s > 0) s
              in map (+ t) xs) xss
