-- A type that an included module type has made known is no abstract type of the one around it.
-- ==
-- error: "t" is not an abstract type

module type has = { type t }
module type twice = { type t include has with t = i32 }
module type again = twice with t = i32

entry main = 1i32
