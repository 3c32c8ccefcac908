-- Branches, loops, updates in place, patterns.
-- ==
-- entry: fibonacci
-- input { 0 } output { 0 }
-- input { 30 } output { 832040 }

-- ==
-- entry: gcd
-- input { 48 36 } output { 12 }
-- input { 7 0 } output { 7 }

-- ==
-- entry: sieve
-- input { 12i64 } output { [false, false, true, true, false, true, false, true, false, false, false, true] }

-- ==
-- entry: replaced
-- input { [[1, 2], [3, 4]] 1i64 [8, 9] } output { [[1, 2], [8, 9]] }
-- input { [[1, 2], [3, 4]] 2i64 [8, 9] } error: Index \[2\] out of bounds

-- ==
-- entry: row_loops
-- input { [3, 0, 5] } output { [6, 0, 15] }

entry fibonacci (n: i32) : i32 =
  (loop (a, b) = (0, 1) for _i < n do (b, a + b)).0

entry gcd (a: i32) (b: i32) : i32 =
  (loop (a, b) = (a, b) while b != 0 do (b, a % b)).0

entry sieve (n: i64) : [n]bool =
  loop marks = tabulate n (>= 2) for i in 2..<n do
    if i * i >= n || !marks[i]
    then marks
    else loop m = marks for k < (n - 1 - i * i) / i + 1 do m with [i * i + k * i] = false

entry replaced [n] [m] (xss: *[n][m]i32) (i: i64) (row: [m]i32) : [n][m]i32 =
  xss with [i] = row

-- A loop whose count differs from element to element.
entry row_loops (xs: []i32) : []i32 =
  map (\x -> loop acc = 0 for i < x do acc + i + 1) xs
