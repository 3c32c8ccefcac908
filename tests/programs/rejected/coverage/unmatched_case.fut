-- A match that does not cover everything.
-- ==
-- error: Unmatched cases in match expression:.*2

entry main (x: i32) = match x case 0 -> 1 case 1 -> 2
