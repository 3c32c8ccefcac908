-- A function cannot be used any more when what it captured is gone.
-- ==
-- error: "xs".*consumed

entry main (xs: *[]i32) (i: i64) =
  let get j = xs[j]
  let ys = xs with [0] = 1
  in (get i, ys)
