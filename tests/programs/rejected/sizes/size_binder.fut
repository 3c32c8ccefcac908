-- One name for two sizes that differ.
-- ==
-- error: cannot match

entry main =
  let [k] (xs: [k]i64, ys: [k]i64) = (iota 4, iota 5)
  in map2 (*) xs ys
