-- Nothing may consume a part of a constant, either.
-- ==
-- error: A top-level constant cannot have a unique type

def pair : (*[]i32, i32) = ([1], 2)

entry main (x: i32) = pair.0[0] + x
