-- Clients have no accumulators.
-- ==
-- error: an accumulator exists only in the function of the stream

entry main (acc: *intrinsics.acc ([10]i32)) = intrinsics.acc_write acc 0 1
