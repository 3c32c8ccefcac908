-- A function that consumes cannot stand for one that does not.
-- ==
-- error: regarding consuming

def head (xs: *[]i32) : i32 = (xs with [0] = 1)[0]

def apply 'a 'b (f: a -> b) (x: a) : b = f x

entry main (xs: *[]i32) = apply head xs
