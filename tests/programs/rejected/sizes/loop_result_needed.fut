-- A section is made before its operand is evaluated, of which the size is not known then.
-- ==
-- error: Causality

entry main : []i32 =
  ([1] ++) <| loop (xs: []i32) = [] for i < 3i32 do xs ++ xs
