-- A name that nothing defines.
-- ==
-- error: Unknown name "missing"

entry main (x: i32) = x + missing
