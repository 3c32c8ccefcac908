-- Nor is it known behind the let-binding what it was.
-- ==
-- error: Function body does not have expected type

def same (n: i64) : [n + 1]i64 =
  let [k] (ys: [k]i64) = iota (n + 1)
  in ys

entry main (n: i64) = same n
