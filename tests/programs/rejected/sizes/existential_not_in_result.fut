-- A size with a name must be that of an array in the type itself, not in a function's result.
-- ==
-- error: Existential size "k" not used as array size

def zeros : i64 -> ?[k].(bool -> [k]i32) = \n _ -> replicate n 0
