-- The type of an earlier parameter, where nothing is written, cannot have a size that comes later.
-- ==
-- error: "n" is not in scope

def on_iota f (n: i64) : i64 = f (iota n)

entry main (n: i64) = on_iota i64.sum n
