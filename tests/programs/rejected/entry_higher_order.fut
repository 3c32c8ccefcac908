-- An entry point whose parameter is a function.
-- ==
-- error: [Ee]ntry point

entry main (f: i32 -> i32) = f 2
