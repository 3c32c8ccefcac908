-- Arrays of empty tuples have a size and nothing else.
-- ==
-- entry: count
-- input { 3i64 } output { 3i64 }

-- ==
-- entry: kept
-- script input { made 5i64 } output { 5i64 }

def units (n: i64) : [n]() = replicate n ()

entry count (n: i64) : i64 = length (units n)

entry made (n: i64) : ([]i32, []()) = (map i32.i64 (iota n), units n)

entry kept [n] [m] (pair: ([n]i32, [m]())) : i64 = length (pair.1)
