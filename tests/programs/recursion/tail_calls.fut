-- A call that is the last thing done is the next iteration of a loop: as deep as one likes, on the
-- device, and differentiable.
-- ==
-- entry: count
-- input { 20000i64 } output { 20000i64 }
-- ==
-- entry: collatz
-- input { [1, 7, 27, 97] } output { [0, 16, 111, 118] }
-- ==
-- entry: collect
-- input { 4i64 } output { [4i64, 3i64, 2i64, 1i64] }
-- input { 0i64 } output { empty([0]i64) }
-- ==
-- entry: halve_all
-- input { [8, 3, 5] 2 } output { [2, 0, 1] }
-- ==
-- entry: newton
-- input { 2.0 } output { 1.414213562373095 0.353553390593274 }
-- ==
-- entry: fill
-- input { 5i64 } output { [0i64, 1i64, 4i64, 9i64, 16i64] }
-- ==
-- entry: find
-- input { [3, 1, 4, 1, 5] 4 } output { 2i64 }
-- input { [3, 1, 4, 1, 5] 6 } output { -1i64 }
-- input { empty([0]i32) 6 } output { -1i64 }
-- ==
-- entry: same
-- input { [1, 2] 3 } output { [1, 2] }

def counted (n: i64) (sum: i64): i64 = if n == 0 then sum else counted (n - 1) (sum + 1)
entry count (n: i64) = counted n 0

-- Calls in several branches, inside of a map.
def steps (n: i32) (x: i32): i32 =
  if x == 1 then n else if x % 2 == 0 then steps (n + 1) (x / 2) else steps (n + 1) (3 * x + 1)
entry collatz (xs: []i32) = map (steps 0) xs

def collected [m] (n: i64) (made: [m]i64): []i64 =
  if n == 0 then made else collected (n - 1) (made ++ [n])
entry collect (n: i64) = collected n []

def halved [n] (times: i32) (xs: [n]i32): [n]i32 =
  if times == 0 then xs else halved (times - 1) (map (/ 2) xs)
entry halve_all (xs: []i32) (times: i32) = halved times xs

def root (x: f64) (guess: f64) (n: i32): f64 =
  if n == 0 then guess else root x ((guess + x / guess) / 2) (n - 1)
entry newton (x: f64) = jvp2 (\x -> root x 1 8) x 1

def filled [n] (i: i64) (xs: *[n]i64): *[n]i64 =
  if i == n then xs else filled (i + 1) (xs with [i] = i * i)
entry fill (n: i64) = filled 0 (replicate n 0)

def found [n] (i: i64) (x: i32) (xs: [n]i32): i64 =
  if i == n then -1 else if xs[i] == x then i else found (i + 1) x xs
entry find (xs: []i32) (x: i32) = found 0 x xs

-- What comes back is the argument itself, and is not to be changed.
def given (n: i32) (xs: []i32): []i32 = if n == 0 then xs else given (n - 1) xs
entry same (xs: []i32) (n: i32) =
  let ys = given n xs
  let k = length ys
  let zs = copy (ys :> [k]i32) with [0] = 9
  in if zs[0] == 9 then ys else []
