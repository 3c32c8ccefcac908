-- Half of a pair: see pair.txt.
type point = {x: i32, y: i32}
type other = {x: i32}

def step: i32 = 1

entry change (xs: []i32) = map (+ step) xs
entry point (x: i32) (y: i32): point = {x, y}
entry other (x: i32): other = {x}
entry pair (x: i32): (i32, bool) = (x, x > 0)
