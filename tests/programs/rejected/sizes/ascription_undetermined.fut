-- The array of the other constructor has a size, too.
-- ==
-- error: Ambiguous.*explicit type ascription

type~ tree = #leaf | #twigs ([]i64)

entry main (x: i64) =
  let t: tree = #leaf
  in x
