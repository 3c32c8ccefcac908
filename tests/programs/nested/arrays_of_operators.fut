-- Operators of reductions and scans that take or make small arrays.

-- ==
-- entry: products
-- input { [[[1i64, 1], [1, 0]], [[1i64, 1], [1, 0]], [[1i64, 1], [1, 0]], [[2i64, 0], [0, 3]]] }
-- output { [[[1i64, 1], [1, 0]], [[2i64, 1], [1, 1]], [[3i64, 2], [2, 1]], [[6i64, 6], [4, 3]]] [[6i64, 6], [4, 3]] }
-- input { empty([0][2][2]i64) } output { empty([0][2][2]i64) [[1i64, 0], [0, 1]] }
def product [a] [b] [c] (x: [a][b]i64) (y: [b][c]i64) : [a][c]i64 =
  map (\row -> map (\column -> i64.sum (map2 (*) row column)) (transpose y)) x

entry products [n] (xs: [n][2][2]i64) : ([n][2][2]i64, [2][2]i64) =
  let one = [[1, 0], [0, 1]]
  in (scan product one xs, reduce product one xs)

-- Functions from four states to four, composed: along one array and along the rows of another.
-- ==
-- entry: composed
-- input { [[0i64, 1, 2], [2i64, 2, 1]] }
-- output { [[[1u8, 2, 3, 0], [2u8, 1, 1, 3], [3u8, 0, 0, 3]], [[0u8, 0, 3, 3], [0u8, 0, 3, 3], [3u8, 3, 1, 1]]] [0u8, 3] }
def same : [4]u8 = map u8.i64 (iota 4)
def compose (f: [4]u8) (g: [4]u8) : [4]u8 = map (\s -> g[i64.u8 s]) f

entry composed [n] [m] (ks: [n][m]i64) : ([n][m][4]u8, [n]u8) =
  let step k : [4]u8 = if k == 0 then [1, 2, 3, 0] else if k == 1 then [3, 2, 1, 1] else [0, 0, 3, 3]
  in ( map (\row -> scan compose same (map step row)) ks
     , map (\row -> (reduce compose same (map step row))[1]) ks)

-- Beside values that are no arrays.
-- ==
-- entry: widest
-- input { [3i32, 9, 4, 9] } output { [9i32, 1] 25i32 }
entry widest [n] (xs: [n]i32) : ([2]i32, i32) =
  let pairs = map2 (\x i -> ([x, i32.i64 i], x)) xs (iota n)
  let larger (a: [2]i32, s: i32) (b: [2]i32, t: i32) = (if b[0] > a[0] then b else a, s + t)
  in reduce larger ([i32.lowest, -1], 0) pairs

-- An array inside of the operator alone, of a size that is known or not.
-- ==
-- entry: inside
-- input { 3i64 [1i64, 2, 3, 5] } output { 11i64 [1i64, 3, 6, 11] 11i64 [3i64, 1, 7] }
entry inside [n] (k: i64) (xs: [n]i64) : (i64, [n]i64, i64, [3]i64) =
  ( reduce (\a b -> let t = [a, b, a + b] in t[(a + b) * 0 + 2]) 0 xs
  , scan (\a b -> let t = replicate k a in t[k - 1] + b) 0 xs
  , reduce (\a b -> let t = map (+ 1) (iota (a % 5 + 1)) in a + b + t[0] - 1) 0 xs
  , reduce_by_index (replicate 3 0) (\a b -> let t = replicate k a in t[k - 1] + b) 0 (map (% 3) xs) xs)
