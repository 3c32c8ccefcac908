-- Calls that come again, with the same sizes and other values.
entry numbers (n: i64) (k: i64): [n]i64 = map (* k) (iota n)
entry more (xs: []i64): []i64 = map (+ 7) xs
entry sums (xs: []i64): []i64 = scan (+) 0 xs
entry total (xs: []i64): i64 = i64.sum xs
