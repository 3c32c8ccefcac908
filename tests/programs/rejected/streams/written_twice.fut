-- A write consumes the accumulator.
-- ==
-- error: consumed

entry main [n] (xs: [n]i32) =
  let f (acc: *intrinsics.acc ([n]i32)) i =
    let first = intrinsics.acc_write acc i 1
    let _second = intrinsics.acc_write acc i 2
    in first
  in intrinsics.scatter_stream (copy xs) f (iota 2)
