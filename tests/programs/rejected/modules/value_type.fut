-- Module type and module, side by side.
-- ==
-- error: Module type requires.*val inner.x : bool.*but module defines.*val inner.x : i32

module m : { module inner : { val x : bool } } = { module inner = { def x = 1i32 } }

entry main = 1i32
