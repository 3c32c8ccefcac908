-- A size that only a function type mentions has to be known where the function is used.
-- ==
-- error: Causality check: size ".*" needed for type of a parameter

entry main (xs: []i32) : i64 =
  (\apply -> apply (filter (> 0) xs)) (\kept -> length kept)
