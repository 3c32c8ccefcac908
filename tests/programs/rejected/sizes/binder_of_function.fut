-- A function is no array: it does not have the sizes of its parameters.
-- ==
-- error: Cannot bind \[k\]

entry main =
  let [k] (f: [k]i64 -> i64) = \(xs: [5]i64) -> xs[0]
  in k
