-- One name for two parameters.
-- ==
-- error: x

entry main (x: i32) (x: i32) = x
