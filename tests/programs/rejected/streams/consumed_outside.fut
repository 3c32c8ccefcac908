-- A stream inside of another one's function cannot write to that one's accumulator.
-- ==
-- error: Consuming variable "outer", which is not consumable

entry main [n] (xs: [n]i32) =
  let f (outer: *intrinsics.acc ([n]i32)) i =
    let ys =
      intrinsics.scatter_stream (copy xs)
                                (\(acc: *intrinsics.acc ([n]i32)) (_: i64) ->
                                   let _ = intrinsics.acc_write outer i 1
                                   in acc)
                                (iota 2)
    in intrinsics.acc_write outer 0 ys[0]
  in intrinsics.scatter_stream (copy xs) f (iota 2)
