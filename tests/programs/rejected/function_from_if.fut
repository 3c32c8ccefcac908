-- A branch cannot choose between functions.
-- ==
-- error: A function cannot be the result of an if

entry main (x: i32) = (if x > 0 then \y -> y + 1 else \y -> y - 1) x
