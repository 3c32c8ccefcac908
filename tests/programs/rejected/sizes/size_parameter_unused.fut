-- A size parameter that no parameter has: no caller could ever say what it is.
-- ==
-- error: Size \[n\] unused in pattern

def constant [n] (x: i32) : i32 = x

entry main (x: i32) = constant x
