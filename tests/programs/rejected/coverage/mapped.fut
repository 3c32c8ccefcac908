-- Also in a function that is mapped, and in several places.
-- ==
-- error: Unmatched.*true, false.*Unmatched.*#none

type opt = #some i32 | #none

entry pairs (xs: []bool) = map (\x -> match (x, !x) case (false, _) -> 1 case (_, true) -> 2) xs

entry options (x: i32) = match (#some x : opt) case #some y -> y
