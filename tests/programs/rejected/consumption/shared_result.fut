-- A result that may be shared cannot stand for a unique one.
-- ==
-- error: incompatible uniqueness

def change (f: i64 -> *[]i32) : *[]i32 = f 1 with [0] = 1

entry main (xs: []i32) = change (\(_: i64) : []i32 -> xs)
