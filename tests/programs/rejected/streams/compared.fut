-- Accumulators cannot be compared.
-- ==
-- error: Expected: a type that supports equality

entry main [n] (xs: [n]i32) =
  let f (acc: *intrinsics.acc ([n]i32)) (_: i64) = if acc == acc then acc else acc
  in intrinsics.scatter_stream (copy xs) f (iota 2)
