-- A sum type that nothing says more of is reported where it is first needed.
-- ==
-- error: ambiguous_match.fut:7:8-12:

def name x =
  match x
  case #one -> 1i32
  case #two -> 2

entry main (x: i32) = x + 1
