-- A branch cannot choose between functions.
-- ==
-- error: The result of an if may not be of function type

entry main (x: i32) = (if x > 0 then \y -> y + 1 else \y -> y - 1) x
