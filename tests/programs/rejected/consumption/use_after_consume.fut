-- An array that was updated is gone.
-- ==
-- error: xs.*consumed

entry main (xs: *[]i32) =
  let ys = xs with [0] = 1
  in (ys, xs[0])
