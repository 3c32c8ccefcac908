-- Sizes that are expressions, in types that say so.
-- ==
-- entry: pick
-- input { true 2i64 3i64 } output { [0i64, 2i64] }
-- input { false 2i64 3i64 } output { [0i64, 2i64, 4i64] }
-- ==
-- entry: lengths
-- input { [1i64, 2i64, 3i64] } output { [1i64, 3i64, 5i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
-- ==
-- entry: coerced
-- input { 2i64 [5i64, 6i64] } output { [5i64, 6i64] }
-- input { 3i64 [5i64, 6i64] } error:
-- ==
-- entry: empties
-- input { true 4i64 } output { 0i64 4i64 }

def two (b: bool) (n: i64) (m: i64) : [if b then n else m]i64 = iota (if b then n else m)

entry pick (b: bool) (n: i64) (m: i64) = map2 (+) (two b n m) (two b n m)

def indexed [n] (xs: [n]i64) : [length xs]i64 = iota (length xs)
def plus [n] (xs: [n]i64) (is: [length xs]i64) = map2 (+) (xs :> [length xs]i64) is

entry lengths (xs: []i64) = plus xs (indexed xs)

entry coerced (n: i64) (xs: []i64) = xs :> [if n > 0 then n else 0]i64

entry empties (b: bool) (n: i64) =
  let none : [0][if b then n else 1]i64 = []
  in (length none, length (transpose none))
