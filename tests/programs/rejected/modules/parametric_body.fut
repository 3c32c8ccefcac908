-- The body of a parametric module is checked where it is defined.
-- ==
-- error: Cannot apply "\+" to "p.x"

module m (p: {type t val x : t}) = { def y = p.x + 1i32 }

entry main = 1i32
