-- A stream's function returns the accumulator of this stream, not that of one around it.
-- ==
-- error: must return the accumulator that it gets

def inner [n] (outer: *intrinsics.acc ([n]i32)) (xs: [n]i32) =
  let ys = intrinsics.scatter_stream (copy xs) (\(_acc: *intrinsics.acc ([n]i32)) _ -> outer) (iota 2)
  in intrinsics.acc_write outer 0 ys[0]

entry main [n] (xs: [n]i32) =
  intrinsics.scatter_stream (copy xs) (\(acc: *intrinsics.acc ([n]i32)) _ -> inner acc xs) (iota 2)
