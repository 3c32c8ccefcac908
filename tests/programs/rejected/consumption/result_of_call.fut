-- Without a star, a result may be an alias of the arguments.
-- ==
-- error: Consuming.*"xs"

def same (xs: []i32) : []i32 = xs

entry main (xs: []i32) = same xs with [0] = 1
