-- A size that the elements of an empty array have, but that is computed after it.
-- ==
-- error: "d" is not in scope

entry main (xs: []i32) : bool =
  let none = [] : [][]i32
  let some = [filter (> 0) xs]
  in length (none ++ some) == 1
