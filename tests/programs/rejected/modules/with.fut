-- A refinement must be so.
-- ==
-- error: module type requires.*bool

module type has = { type t val x : t }
module m : has with t = bool = { type t = i32 def x : t = 1 }

entry main = m.x
