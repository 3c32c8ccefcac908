-- A type that nothing defines.
-- ==
-- error: [Uu]nknown type "number"

entry main (x: number) = x
