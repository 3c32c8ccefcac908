-- Loops that build their result by updating it.
-- ==
-- entry: primes
-- input { 10i64 }
-- output { [false, false, true, true, false, true, false, true, false, false] }

-- ==
-- entry: fibonacci
-- input { 8i64 }
-- output { [0, 1, 1, 2, 3, 5, 8, 13] }

-- ==
-- entry: sorted
-- input { [5, 2, 9, 1] }
-- output { [1, 2, 5, 9] }

-- ==
-- entry: columns
-- input { [[1, 2], [3, 4]] }
-- output { [[1, 3], [3, 7]] }

entry primes (n: i64) : [n]bool =
  loop flags = replicate n true with [0:2] = [false, false]
  for i in 2..<n do
    if flags[i] && i * i < n
    then let multiples = i * i..i * i + i..<n
         in loop flags for j in multiples do flags with [j] = false
    else flags

entry fibonacci (n: i64) : [n]i32 =
  loop fs = replicate n 1 with [0] = 0
  for i in 2..<n do
    fs with [i] = fs[i - 1] + fs[i - 2]

-- Insertion.
entry sorted [n] (xs: *[n]i32) : [n]i32 =
  loop xs for i < n do
    (loop (xs, j) = (xs, i)
     while j > 0 && xs[j - 1] > xs[j] do
       let a = xs[j - 1]
       let b = xs[j]
       in (xs with [j - 1] = b with [j] = a, j - 1)).0

entry columns [n] [m] (xss: *[n][m]i32) =
  loop xss for j in 1..<m do
    let left = copy xss[:, j - 1]
    let here = copy xss[:, j]
    in xss with [:, j] = map2 (+) left here
