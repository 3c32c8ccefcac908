-- Arguments that calls may overwrite.
entry make (n: i64): ([]i32, i64) = (map i32.i64 (iota n), n)
entry bump [n] (xs: *[n]i32): *[n]i32 = xs with [0] = 99
entry sum (xs: []i32): i32 = i32.sum xs
entry both [n] (xs: *[n]i32) (ys: [n]i32): [n]i32 = map2 (+) (xs with [0] = 99) ys
entry second (r: ([]i32, i64)): i64 = r.1
