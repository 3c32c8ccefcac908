-- What a value's type states and what it has, when these differ.
-- ==
-- entry: parameter
-- input { [1, 2] [1, 2, 3] }
-- error: the array "ys" of shape \[3\] does not have the size that its type states, \[2\]

-- ==
-- entry: binding
-- input { [1, 2] }
-- error: the array "ys" of shape \[2\] does not have the size that its type states, \[3\]

def add [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = map2 (+) xs ys

entry parameter [n] [m] (xs: [n]i32) (ys: [m]i32) = add xs ys

entry binding (xs: []i32) = let ys : [3]i32 = xs in i32.sum ys
