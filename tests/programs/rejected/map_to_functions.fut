-- A function that is not applied to all of its parameters is no element, either.
-- ==
-- error: Cannot apply "map" to .* \(invalid type\).*an array cannot contain functions

entry main (x: i32) = let fs = map (\a b -> a + b) [1, 2, x] in fs[0] 3
