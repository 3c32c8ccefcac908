-- Parallelism inside of parallel work: each of these can become work for more threads than its
-- outermost part has elements.
-- ==
-- entry: nearest
-- input { [[0.0, 0.0], [4.0, 3.0], [9.0, 1.0], [1.0, 1.0]] [[0.0, 1.0], [8.0, 2.0]] 1 }
-- output { [[0.5, 0.5], [6.5, 2.0]] }
-- input { [[0.0, 0.0], [4.0, 3.0], [9.0, 1.0], [1.0, 1.0]] [[0.0, 1.0], [8.0, 2.0]] 0 }
-- output { [[0.0, 1.0], [8.0, 2.0]] }
-- input { [[2.0, 4.0], [4.0, 8.0]] [[0.0, 0.0], [99.0, 99.0]] 3 }
-- output { [[3.0, 6.0], [0.0, 0.0]] }
-- input { empty([0][2]f64) [[5.0, 5.0]] 2 }
-- output { [[0.0, 0.0]] }

-- ==
-- entry: normalised
-- input { 1 [[1.0, 3.0], [5.0, 5.0]] }
-- output { [[0.75, 1.25], [1.0, 1.0]] }
-- input { 2 [[2.0, 6.0], [4.0, 4.0]] }
-- output { [[0.875, 1.125], [1.0, 1.0]] }
-- input { 0 [[1.0, 3.0]] }
-- output { [[1.0, 3.0]] }
-- input { 3 empty([0][4]f64) }
-- output { empty([0][4]f64) }
-- input { 3 empty([3][0]f64) }
-- output { empty([3][0]f64) }

-- ==
-- entry: counted
-- input { 3i64 [[0i64, 2i64, 2i64, 5i64], [1i64, -1i64, 1i64, 1i64]] }
-- output { [[1, 0, 2], [0, 3, 0]] }
-- input { 0i64 [[0i64], [1i64]] }
-- output { empty([2][0]i32) }
-- input { 2i64 empty([2][0]i64) }
-- output { [[0, 0], [0, 0]] }
-- input { 2i64 empty([0][3]i64) }
-- output { empty([0][2]i32) }

-- ==
-- entry: running
-- input { [[1, 2, 3], [10, -20, 30]] }
-- output { [[2, 6, 12], [20, -20, 40]] [12, 40] }
-- input { empty([2][0]i32) }
-- output { empty([2][0]i32) [0, 0] }
-- input { empty([0][2]i32) }
-- output { empty([0][2]i32) empty([0]i32) }

-- ==
-- entry: vector_sums
-- input { [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-7, -8, -10]]] }
-- output { [[5, 7, 9], [0, 0, -1]] [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [7, 8, 9]]] }
-- input { empty([2][0][2]i32) }
-- output { [[0, 0], [0, 0]] empty([2][0][2]i32) }

-- ==
-- entry: vectors_by_index
-- input { [[0i64, 1i64, 0i64], [1i64, 1i64, 7i64]] [[[1, 2], [3, 4], [5, 6]], [[1, 1], [2, 2], [3, 3]]] }
-- output { [[[6, 8], [3, 4]], [[0, 0], [3, 3]]] }

-- ==
-- entry: product
-- input { [[1, 2, 3], [4, 5, 6]] [[1, 0], [0, 1], [2, -1]] }
-- output { [[7, -1], [16, -1]] }
-- input { empty([2][0]i32) empty([0][3]i32) }
-- output { [[0, 0, 0], [0, 0, 0]] }
-- input { empty([0][2]i32) [[1], [2]] }
-- output { empty([0][1]i32) }

-- ==
-- entry: gathered
-- input { [[0i64, 2i64], [1i64, 1i64]] [10, 20, 30] }
-- output { [[10, 30], [20, 20]] [40, 40] }
-- input { [[0i64, 2i64], [1i64, 3i64]] [10, 20, 30] }
-- error: Index \[3\] out of bounds for array of shape \[3\]
-- input { empty([2][0]i64) [10] }
-- output { empty([2][0]i32) [0, 0] }

-- ==
-- entry: from_row
-- input { [1i64, 0i64] [[5, 6], [7, 8]] }
-- output { [[11, 12], [12, 13]] }
-- input { [1i64, 2i64] [[5, 6], [7, 8]] }
-- error: Index \[2\] out of bounds for array of shape \[2\]
-- input { [0i64, 0i64] empty([2][0]i32) }
-- error: Index \[0\] out of bounds for array of shape \[0\]

-- ==
-- entry: placed
-- input { [[2i64, 0i64, 9i64], [1i64, -1i64, 0i64]] [[1, 2, 3], [4, 5, 6]] }
-- output { [[2, -1, 1], [6, 4, -2]] }

-- ==
-- entry: overwritten
-- input { 2 [[1, 2, 3], [4, 5, 6]] }
-- output { [[13, 4, 5], [28, 7, 8]] }
-- input { 0 [[1, 2, 3]] }
-- output { [[1, 2, 3]] }

-- ==
-- entry: chosen
-- input { true [[1, 2], [3, 4]] }
-- output { [[4, 5], [10, 11]] }
-- input { false [[1, 2], [3, 4]] }
-- output { [[1, 3], [3, 7]] }

-- ==
-- entry: triangles
-- input { [3i64, 0i64, 1i64] }
-- output { [3i64, 0i64, 0i64] }

-- ==
-- entry: checked_loop
-- input { [true, true] [[1, 2], [3, 4]] 2 }
-- output { [[3, 4], [5, 6]] }
-- input { [true, false] [[1, 2], [3, 4]] 2 }
-- error: Assertion is false
-- input { [true, false] [[1, 2], [3, 4]] 0 }
-- error: Assertion is false

-- ==
-- entry: checked_branch
-- input { [true, true] [[1, 2], [3, 4]] false }
-- output { [[1, 2], [3, 4]] }
-- input { [true, false] [[1, 2], [3, 4]] false }
-- error: Assertion is false
-- input { [false, true] [[1, 2], [3, 4]] true }
-- error: Assertion is false

-- ==
-- entry: checked_count
-- input { [true, true] [[1, 2], [3, 4]] }
-- output { [2, 2] }
-- input { [true, false] [[1, 2], [3, 4]] }
-- error: Assertion is false
-- input { [true, false] empty([2][0]i32) }
-- error: Assertion is false

-- The centres of k clusters: each point goes to the nearest centre.
entry nearest [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) (turns: i32) : [k][d]f64 =
  let distance (p: [d]f64) (c: [d]f64) = f64.sum (map2 (\x y -> (x - y) * (x - y)) p c)
  in loop centres for _turn < turns do
       let closest p =
         let ds = map (distance p) centres
         let (i, _) =
           reduce_comm (\(i, x) (j, y) -> if x < y || (x == y && i < j) then (i, x) else (j, y))
                       (k, f64.inf)
                       (zip (iota k) ds)
         in i
       let owners = map closest points
       let sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) owners points
       let sizes = reduce_by_index (replicate k 0i64) (+) 0 owners (replicate n 1)
       in map2 (\row size -> map (/ f64.i64 (i64.max 1 size)) row) sums sizes

-- Each row is moved halfway to its mean, and scaled to the mean 1.
entry normalised [n] [m] (turns: i32) (rows: [n][m]f64) : [n][m]f64 =
  loop rows for _turn < turns do
    map (\row ->
           let mean = f64.sum row / f64.i64 m
           let near = map (\x -> (x + mean) / 2) row
           in map (/ mean) near)
        rows

entry counted [n] [m] (k: i64) (rows: [n][m]i64) : [n][k]i32 =
  map (\row -> hist (+) 0 k row (replicate m 1)) rows

entry running [n] [m] (rows: [n][m]i32) : ([n][m]i32, [n]i32) =
  unzip (map (\row ->
                let sums = scan (+) 0 (map (* 2) row)
                in (sums, reduce i32.max 0 sums))
             rows)

entry vector_sums [n] [m] [k] (cubes: [n][m][k]i32) : ([n][k]i32, [n][m][k]i32) =
  (map (reduce (map2 (+)) (replicate k 0)) cubes,
   map (scan (map2 i32.max) (replicate k i32.lowest)) cubes)

entry vectors_by_index [n] [m] [k] (keys: [n][m]i64) (cubes: [n][m][k]i32) : [n][2][k]i32 =
  map2 (\is xs ->
          reduce_by_index (replicate 2 (replicate k 0)) (map2 (+)) (replicate k 0) is xs)
       keys
       cubes

entry product [n] [m] [k] (a: [n][m]i32) (b: [m][k]i32) : [n][k]i32 =
  map (\row -> map (\column -> i32.sum (map2 (*) row column)) (transpose b)) a

-- A check inside of the inner parallelism.
entry gathered [n] [m] [k] (places: [n][m]i64) (xs: [k]i32) : ([n][m]i32, [n]i32) =
  unzip (map (\is ->
                let ys = map (\i -> xs[i]) is
                in (ys, i32.sum ys))
             places)

-- A check around it, of what it uses.
entry from_row [n] [m] (places: [n]i64) (rows: [n][m]i32) : [n][m]i32 =
  map2 (\i row ->
          let x = row[i]
          in map (+ x) rows[0])
       places
       rows

entry placed [n] [m] (places: [n][m]i64) (values: [n][m]i32) : [n][m]i32 =
  map3 (\i is vs -> scatter (replicate m (i32.i64 (-1 - i))) is vs) (iota n) places values

-- The loop's parameter is overwritten.
entry overwritten [n] [m] (turns: i32) (rows: [n][m]i32) : [n][m]i32 =
  map (\row ->
         loop row = copy row for _turn < turns do
           let s = i32.sum row
           let row = map (+ 1) row
           in row with [0] = s)
      rows

-- Both branches have parallel work in them.
entry chosen [n] [m] (first: bool) (rows: [n][m]i32) : [n][m]i32 =
  map (\row ->
         if first
         then let s = i32.sum row in map (+ s) row
         else scan (+) 0 row)
      rows

-- How much is done differs between the rows.
entry triangles [n] (sizes: [n]i64) : [n]i64 = map (\k -> i64.sum (iota k)) sizes

-- Checks that everything inside has to wait for, whether or not there is anything to do.
entry checked_loop [n] [m] (oks: [n]bool) (rows: [n][m]i32) (turns: i32) : [n][m]i32 =
  map2 (\ok row -> loop row = assert ok row for _turn < turns do map (+ 1) row) oks rows

entry checked_branch [n] [m] (oks: [n]bool) (rows: [n][m]i32) (more: bool) : [n][m]i32 =
  map2 (\ok row ->
          let row = assert ok row
          in if more then map (+ 1) row else row)
       oks
       rows

entry checked_count [n] [m] (oks: [n]bool) (rows: [n][m]i32) : [n]i32 =
  map2 (\ok row -> i32.sum (map (const 1) (assert ok row))) oks rows
