-- Sum types at the border between programs and clients.
type t = #none | #some i32 | #many ([2]i32) bool
entry make (x: i32): t =
  if x == 0 then #none else if x == 1 then #some 7 else #many [x, x + 1] true
entry number (v: t): i32 =
  match v case #none -> 0 case #some x -> x case #many a _ -> a[1]
