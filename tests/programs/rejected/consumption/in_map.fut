-- A function that is mapped may be applied many times: it cannot consume what it captured.
-- ==
-- error: consum

entry main [n] (xs: *[n]i32) = map (\i -> (xs with [i] = 0)[0]) (iota n)
