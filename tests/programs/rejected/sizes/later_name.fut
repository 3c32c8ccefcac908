-- An array parameter cannot have a size that is computed after it was bound.
-- ==
-- error: "k" is not in scope

entry main (xs: []i64) =
  let k = 7 * 2
  in map2 (+) xs (iota k)
