-- What a value's type states and what it has, when these differ.
-- ==
-- entry: parameter
-- input { [1, 2] [1, 2, 3] }
-- error: cannot match shape of type "\[2\]i32"

-- ==
-- entry: binding
-- input { [1, 2] }
-- error: cannot match shape of type "\[3\]i32"

def add [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = map2 (+) xs ys

entry parameter [n] [m] (xs: [n]i32) (ys: [m]i32) = add xs (ys :> [n]i32)

entry binding (xs: []i32) = let ys = xs :> [3]i32 in i32.sum ys
