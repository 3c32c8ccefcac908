-- A function that calls itself, and not last, is called at run time, where there are no accumulators.
-- ==
-- error: takes an accumulator, which is not supported

def down [n] (acc: *intrinsics.acc ([n]i32)) (i: i64) : *intrinsics.acc ([n]i32) =
  if i == 0 then acc else intrinsics.acc_write (down acc (i - 1)) i 7

entry main [n] (xs: [n]i32) = intrinsics.scatter_stream (copy xs) down (iota 2)
