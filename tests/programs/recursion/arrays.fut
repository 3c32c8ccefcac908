-- Arrays, records and sums through calls.
-- ==
-- entry: sorted
-- input { [5, 3, 9, 3, 1] } output { [1, 3, 3, 5, 9] }
-- input { empty([0]i32) } output { empty([0]i32) }
-- ==
-- entry: sums
-- input { [1, 2, 3, 4, 5, 6, 7] } output { 28 }
-- ==
-- entry: in_place
-- input { 4i64 } output { [10i64, 11i64, 12i64, 13i64] [0i64, 0i64, 0i64, 0i64] }
-- ==
-- entry: transposed
-- input { 3 [[1, 2, 3], [4, 5, 6]] } output { [[1, 4], [2, 5], [3, 6]] }
-- ==
-- entry: tree
-- input { 5 } output { 31 5i64 }
-- ==
-- entry: triangle
-- input { 4i64 } output { [[1i64, 4i64, 18i64], [4i64, 1i64, 9i64]] }
-- ==
-- entry: mistake
-- input { [1, 2, 3] } error: Index \[3\] out of bounds for array of shape \[3\](.|\n)*arrays.fut
-- ==
-- entry: shared
-- input { [1, 2, 3] } output { [7, 2, 3] [1, 2, 3] }

def merged [n] [m] (xs: [n]i32) (ys: [m]i32): []i32 =
  if n == 0 then ys
  else if m == 0 then xs
  else if xs[0] <= ys[0] then [xs[0]] ++ merged (drop 1 xs) ys
  else [ys[0]] ++ merged xs (drop 1 ys)

def sort [n] (xs: [n]i32): []i32 =
  if n < 2 then xs else merged (sort (take (n / 2) xs)) (sort (drop (n / 2) xs))
entry sorted (xs: []i32) = sort xs

entry sums [n] (xs: [n]i32): i32 =
  if n == 0 then 0 else if n == 1 then xs[0] else sums (take (n / 2) xs) + sums (drop (n / 2) xs)

def written [n] (i: i64) (xs: *[n]i64): *[n]i64 =
  if i == n then xs else let ys = written (i + 1) xs in ys with [i] = ys[i] + 10 + i
entry in_place (n: i64) =
  let zeros = replicate n 0
  in (written 0 (copy zeros), zeros)

def turned [n][m] (times: i32) (xss: [n][m]i32): [][]i32 =
  if times == 0 then xss else turned (times - 1) (transpose xss :> [][]i32)
entry transposed (times: i32) (xss: [][]i32) = let yss = turned times xss in map id yss

type~ path = {sum: i32, steps: []i64}
def grow (depth: i32) (at: i32): path =
  if depth == 0 then {sum = 0, steps = []}
  else let left = grow (depth - 1) (2 * at)
       let right = grow (depth - 1) (2 * at + 1)
       in {sum = 1 + left.sum + right.sum, steps = [i64.i32 at] ++ left.steps}
entry tree (depth: i32) = let t = grow depth 1 in (t.sum, length t.steps)

type shape = #point | #square i64 | #box {w: i64, h: i64}
def area (s: shape): i64 = match s case #point -> 1 case #square n -> n * n case #box b -> b.w * b.h
def next (n: i64) (s: shape): shape =
  if n == 0 then s
  else match next (n - 1) s case #point -> #square n case #square m -> #box {w = m, h = n} case #box _ -> #point
entry triangle (n: i64) =
  [[area (next 0 #point), area (next 2 #point) * 2, area (next n #point) + 2], [area (next 1 (#square 2)) * 2, area (next 3 #point), 9]]

def past [n] (i: i64) (xs: [n]i32): i32 = if i > n then 0 else xs[i] + past (i + 1) xs
entry mistake [n] (xs: [n]i32) = past 0 xs

-- A result that may be the argument is a copy of it.
def first_or_given [n] (k: i32) (xs: [n]i32): [n]i32 =
  if k == 0 then xs else let ys = first_or_given (k - 1) xs in if ys[0] == 100 then map (+ 1) ys else ys
entry shared [n] (xs: [n]i32) = let ys = first_or_given 2 xs in (copy ys with [0] = 7, xs)
