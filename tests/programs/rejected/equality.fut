-- Of a type of which nothing is known, it is not known when values are equal.
-- ==
-- error: does not support equality

def same 't (x: t) (y: t) : bool = x == y

entry main (x: i32) = same x 1
