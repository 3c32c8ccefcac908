-- A name that says it is not used.
-- ==
-- error: _x

entry main (_x: i32) = _x
