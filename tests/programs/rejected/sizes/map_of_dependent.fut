-- A function whose result's size is its argument makes rows that differ.
-- ==
-- error: anonymous sizes

def steps (n: i64) : [n]i64 = map (* 3) (iota n)

entry main (lengths: []i64) = map steps lengths
