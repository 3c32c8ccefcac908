-- Only abstract types can be refined.
-- ==
-- error: "t" is not an abstract type

module type has = { type t }
module type known = has with t = i64
module type again = known with t = i64

entry main = 1i32
