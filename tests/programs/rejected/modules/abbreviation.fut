-- What a module type says of a type must be so, in submodules, too.
-- ==
-- error: Module defines.*type inner.t = i32.*requires.*type inner.t = bool

module m : { module inner : { type t = bool } } = { module inner = { type t = i32 } }

entry main = 1i32
