-- A constructor that no case names.
-- ==
-- error: Unmatched cases.*#c _

type t = #a i32 | #b i32 | #c [2]i32

entry main (n: i32) =
  match (if n == 0 then #a 5 else #c [7, 8] : t)
  case #a x -> x
  case #b x -> x
