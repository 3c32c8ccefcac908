-- A caller has no way to say a size that no argument has.
-- ==
-- error: Entry point.*\[n\]

entry main [n] (x: i32) : [n]i32 = replicate n x
