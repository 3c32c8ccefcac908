-- Constructors have as many arguments as their type says.
-- ==
-- error: differ in arity

type t = #one i32

entry main (x: i32) = match (#one x : t) case #one -> 1
