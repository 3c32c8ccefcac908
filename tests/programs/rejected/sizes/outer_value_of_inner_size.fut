-- The row of `none` would be of a size that is computed after it.
-- ==
-- error: Causality check

entry main (xs: []i16) =
  let none = [] : [][]i16
  let rows = [filter (!= 0) xs]
  in none[0] == rows[0]
