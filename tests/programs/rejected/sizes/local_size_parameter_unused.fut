-- Local functions are no exception.
-- ==
-- error: local_size_parameter_unused.fut:6:12-15:

entry main (x: i32) =
  let half [k] (y: i32) = y / 2
  in half x
