-- A module type that hides that a type has functions.
-- ==
-- error: non-lifted

module m : { type t } = { type^ t = i32 -> i32 }

entry main = 1i32
