-- An argument of another type.
-- ==
-- error: i32

def f (x: i32) = x

entry main (b: bool) = f b
