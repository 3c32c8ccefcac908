-- Too many arguments.
-- ==
-- error: .

def f (x: i32) = x

entry main (x: i32) = f x x
