-- A size that is bound must be in the pattern.
-- ==
-- error: Size \[k\] unused

entry main (xs: []bool) =
  let [k] ys = filter id xs
  in k + length ys
