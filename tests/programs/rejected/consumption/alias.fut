-- Consuming an array consumes everything that may share memory with it.
-- ==
-- error: ys.*consumed

entry main (xs: *[]i32) =
  let ys = xs[1:]
  let zs = xs with [0] = 1
  in (zs, ys)
