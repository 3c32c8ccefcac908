-- Calls inside of combinators, as functions, and in constants.
-- ==
-- entry: mapped
-- input { [1i64, 2i64, 5i64] } output { [1i64, 2i64, 120i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
-- ==
-- entry: nested
-- input { [[1i64, 2i64], [3i64, 4i64]] } output { [3i64, 30i64] }
-- ==
-- entry: reduced
-- input { [2i64, 3i64, 4i64] } output { 9i64 [0i64, 2i64, 5i64, 9i64] }
-- ==
-- entry: rows
-- input { 3i64 } output { [[0i64, 1i64], [2i64, 3i64], [4i64, 5i64]] }
-- ==
-- entry: constants
-- input { 2i64 } output { 26i64 }
-- ==
-- entry: captured
-- input { [1, 2, 3] 4 } output { 72 }
-- ==
-- entry: two_functions
-- input { 3i64 } output { 6i64 24i64 }
-- ==
-- entry: levels
-- input { 4i64 } output { 8i64 }
-- ==
-- entry: flat
-- input { 3i64 } output { [3i64, 2i64, 1i64, 2i64, 1i64, 1i64, 3i64, 2i64, 1i64] [3i64, 3i64, 3i64] }
-- ==
-- entry: appended
-- input { [3i64, 0i64, 2i64] } output { [3i64, 2i64, 1i64, 2i64, 1i64] }
-- ==
-- entry: by_value
-- input { [3i64, 1i64] } output { [6i64, 1i64] }
-- ==
-- entry: wide
-- input { 6i64 } output { 127i64 }

def fact (n: i64): i64 = if n <= 0 then 1 else n * fact (n - 1)
entry mapped (ns: []i64) = map fact ns
entry nested (nss: [][]i64) = map (\ns -> i64.sum (map fact ns)) nss
def plus (a: i64) (b: i64): i64 = if b == 0 then a else 1 + plus a (b - 1)
entry reduced (ns: []i64) = (reduce plus 0 ns, [0] ++ scan plus 0 ns)
def pair_at (n: i64): [2]i64 = if n == 0 then [0, 1] else map (+ 2) (pair_at (n - 1))
entry rows (n: i64) = tabulate n pair_at

def base = fact 4
def more (n: i64): i64 = if n == 0 then base else 1 + more (n - 1)
entry constants (n: i64) = more n

-- The function's array and number come along.
def folded (f: i32 -> i32) (n: i32): i32 = if n == 0 then 0 else f n + folded f (n - 1)
entry captured (xs: []i32) (k: i32) = folded (\i -> i32.sum xs * i + i + k / 2 - 1) (k - 0) + k - 6

def twice (f: i64 -> i64) (n: i64): i64 = if n == 0 then 3 else f (twice f (n - 1))
entry two_functions (n: i64) = (twice (+ 1) n, twice (* 2) n)

def count (n: i64): i64 = if n == 0 then 0 else 1 + i64.sum (map count (iota n))
entry levels (n: i64) = count n

def down (n: i64): []i64 = if n == 0 then [] else [n] ++ down (n - 1)
entry flat (n: i64) =
  let (_, _, _, elements) = flatmap' (\i -> if i == 1 then down 2 ++ [1] else down n) (iota 3)
  in (elements, map (\_ -> n) (iota 3))
entry appended (ns: []i64) = let (_, _, _, elements) = flatmap' down ns in elements
entry by_value (ns: []i64) =
  let f = fact in map f ns

def full (n: i64): i64 = if n == 0 then 1 else 1 + reduce (+) 0 (map (\_ -> full (n - 1)) (iota 2))
entry wide (n: i64) = full n
