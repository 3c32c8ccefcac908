-- A loop consumes its initial values before the body runs.
-- ==
-- error: "ys".*consumed.*initial value of the loop

entry main (xs: *[]i32) =
  let ys = xs[1:]
  in loop xs for i < 3 do xs with [i] = ys[i]
