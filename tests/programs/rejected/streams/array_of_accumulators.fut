-- Accumulators are no elements of arrays.
-- ==
-- error: is lifted

def f [n] (acc: *intrinsics.acc ([n]i32)) (_: i64) = let accs = [acc] in accs[0]

entry main [n] (xs: [n]i32) = intrinsics.scatter_stream (copy xs) f (iota 2)
