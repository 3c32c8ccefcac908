-- ==
-- error: Using "xs", but this was consumed at

entry twice (xs: *[]i32) : ([]i32, i32) =
  let ys = xs with [0] = 1
  in (ys, xs[0])
