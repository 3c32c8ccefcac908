-- A size that a loop computes in its body cannot be a size of the initial values.
-- ==
-- error: computed inside the loop body

entry main [n] (flags: [n]bool) (xs: [n]i32) =
  loop (fs, ys) = (flags, xs) for _i < 2i32 do
    let kept = filter (> 0) xs
    let pairs = zip fs kept
    in (map (.0) pairs ++ fs, ys)
