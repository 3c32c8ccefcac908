-- A small call: what the sessions of the load test ask for.
entry step [n] (xs: [n]i32) : [n]i32 = map (\x -> 3 * x + 7) xs
