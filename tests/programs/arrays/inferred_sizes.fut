-- Sizes that stand nowhere in the program: of a result declared as [], of what `let` ends, of a
-- lifted type, and of values whose sizes are forgotten.
-- ==
-- entry: declared
-- input { 2i64 3i64 }
-- output { [[0i64, 1i64, 2i64], [3i64, 4i64, 5i64]] }

-- ==
-- entry: after_let
-- input { [1, 2, 3] }
-- output { 2i64 3i64 }

-- ==
-- entry: lifted
-- input { 2i64 [1] }
-- output { [1, 1, 1, 1] }

-- ==
-- entry: in_sum
-- input { true 3i64 }
-- output { [0i64, 1i64, 2i64] }
-- input { false 3i64 }
-- output { [7i64] }

-- ==
-- entry: halves
-- input { [1, 2, 3, 4, 5] 2i64 }
-- output { [3, 4, 5, 1, 2] }

def count (n: i64) : []i64 = let xs = iota n in xs

entry declared (n: i64) (m: i64) : [][]i64 = unflatten (count (n * m))

def sizes [n] [m] 't (_: [n + m]t) = (n, m)

entry after_let [n] (xs: [n]i32) =
  sizes (let small = filter (< 3) xs in small ++ xs)

def iterate '~a (n: i64) (f: (() -> a) -> a) (x: () -> a) : a =
  loop x = x () for _i < n do f (\() -> x)

entry lifted n (xs: []i32) : []i32 =
  iterate n (\(p: () -> []i32) -> p () ++ p ()) (\() -> xs)

type maybe 't = #some t | #none

def make b (n: i64) =
  if b
  then #some (iota n)
  else (#none : maybe ([1]i64)) :> maybe ([]i64)

entry in_sum b n =
  match make b n
  case #some xs -> xs
  case #none -> [7]

entry halves (xs: []i32) (k: i64) : []i32 =
  let (a, b) = split (xs :> [k + (length xs - k)]i32)
  in b ++ a
