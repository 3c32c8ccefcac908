-- An array that was made for a constructor is that value's.
-- ==
-- error: x.*consumed

type t [n] = #some ([n]i32) | #none
def set [n] (x: *t [n]) : *t [n] = match x case #some b -> #some (b with [0] = 9) case #none -> #none
entry main [n] (xs: [n]i32) : ([]i32, []i32) =
  let x : t [n] = #some (copy xs)
  let y = set x
  in match (x, y) case (#some p, #some q) -> (p, q) case _ -> ([], [])
