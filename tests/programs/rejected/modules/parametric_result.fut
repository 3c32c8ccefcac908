-- So is whether it has its type.
-- ==
-- error: does not define a value named "y"

module m (p: {val x : i32}) : {val y : i32} = { def z = p.x }

entry main = 1i32
