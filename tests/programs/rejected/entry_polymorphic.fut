-- An entry point with a type parameter.
-- ==
-- error: [Ee]ntry point

entry main 't (x: t) = x
