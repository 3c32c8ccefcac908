-- Near the edge of what the rules of consumption allow.

-- An alias may be used until the array is consumed.
-- ==
-- entry: before_consumption
-- input { [1, 2, 3] } output { 3 [9, 2, 3] }
entry before_consumption (xs: *[]i32) : (i32, []i32) =
  let ys = xs[1:]
  let last = ys[1]
  in (last, xs with [0] = 9)

-- Each branch may consume the same array.
-- ==
-- entry: in_both_branches
-- input { true [1, 2] } output { [7, 2] }
-- input { false [1, 2] } output { [1, 8] }
entry in_both_branches (c: bool) (xs: *[]i32) : *[]i32 =
  if c then xs with [0] = 7 else xs with [1] = 8

-- A branch that consumes leaves nothing that the result could be an alias of.
-- ==
-- entry: in_one_branch
-- input { true [1, 2] } output { [7, 9] }
-- input { false [1, 2] } output { [1, 9] }
entry in_one_branch (c: bool) (xs: *[]i32) : *[]i32 =
  let ys = if c then xs with [0] = 7 else xs
  in ys with [1] = 9

-- Elements that are numbers are no aliases.
-- ==
-- entry: swap
-- input { [1, 2, 3] } output { [3, 2, 1] }
entry swap (xs: *[]i32) : *[]i32 =
  let x = xs[0]
  let xs[0] = xs[2]
  in xs with [2] = x

-- The parts of a parameter are apart, and so are those of a result.
type pair [n] [m] = {a: [n]i32, b: [m]i32}

def first [n] [m] (p: *pair [n] [m]) : *pair [n] [m] = p with a[0] = 10

-- ==
-- entry: parts
-- input { [1, 2] [3, 4] } output { [10, 2] [3, 11] }
entry parts (a: *[]i32) (b: *[]i32) : (*[]i32, *[]i32) =
  let p = first {a, b}
  let p = p with b[1] = 11
  in (p.a, p.b)

-- A loop may consume its parameters, and hand them on in another order.
-- ==
-- entry: turns
-- input { [1, 2] [3, 4] 3i64 } output { [3, 1] [1, 1] }
entry turns (xs: *[]i32) (ys: *[]i32) (n: i64) : ([]i32, []i32) =
  let n = i32.i64 n
  let ys[1] = n - 2
  in loop (xs, ys) for _i < n do (ys, xs with [1] = 1)

-- A function that is mapped may consume what it has made itself, or a copy.
-- ==
-- entry: own
-- input { [1, 2, 3] } output { [[5, 2, 3], [1, 5, 3], [1, 2, 5]] }
entry own (xs: []i32) : [][]i32 =
  map (\i -> let ys = copy xs in ys with [i] = 5) (indices xs)

-- Arguments are evaluated from right to left, so the left one may consume.
def put (xs: *[]i32) (x: i32) : *[]i32 = xs with [0] = x

-- ==
-- entry: right_to_left
-- input { [1, 2, 3] } output { [3, 2, 3] }
entry right_to_left (xs: *[]i32) : []i32 = put xs xs[2]
