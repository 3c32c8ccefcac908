-- An empty array of which nothing says how long its rows are.
-- ==
-- error: Ambiguous size

entry main : i64 =
  let none = [] : [][]i32
  in length none
