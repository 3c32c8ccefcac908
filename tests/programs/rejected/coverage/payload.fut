-- A payload that no case fits.
-- ==
-- error: Unmatched cases.*#a 0

type t = #a i32 | #b

entry main (x: i32) =
  match (#a x : t)
  case #a 5 -> 5
  case #b -> 6
