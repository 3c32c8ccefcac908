-- Module types are checked where they are declared.
-- ==
-- error: Unknown type "t"

module type mt = { val x : t }

entry main = 1i32
