-- Accumulators of different arrays have different types, in modules too.
-- ==
-- error: but module defines

module m : {val f [n] : *intrinsics.acc ([n]i32) -> i64 -> *intrinsics.acc ([n]i32)} = {
  def f [n] (acc: *intrinsics.acc ([n]f32)) (_: i64) = acc
}

entry main [n] (xs: [n]i32) = intrinsics.scatter_stream (copy xs) m.f (iota 2)
