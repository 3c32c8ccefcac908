-- Functions cannot be elements.
-- ==
-- error: an array cannot contain functions

entry main (x: i32) = (map (\f -> f x) [\y -> y + 1i32])[0]
