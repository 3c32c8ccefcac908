-- The payload of a sum is part of it.
-- ==
-- error: "s".*consumed

type~ t = #some ([]i32) | #none

entry main (s: *t) =
  let n = match s
          case #some xs -> (xs with [0] = 1)[0]
          case #none -> 0
  in (n, s)
