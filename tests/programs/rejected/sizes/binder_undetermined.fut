-- An empty array has no rows that would tell how long they are.
-- ==
-- error: Ambiguous size "k"

entry main : i64 =
  let [k] (xs: [0][k]i64) = []
  in k + length xs
