-- Clients have no accumulators.
-- ==
-- error: an accumulator exists only in the function of the stream

entry main [n] (acc: *intrinsics.acc ([n]i32)) = intrinsics.acc_write acc 0 1
