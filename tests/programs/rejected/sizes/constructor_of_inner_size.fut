-- The branch without a list would have to know how long the list of the other is.
-- ==
-- error: Causality check

type list 'a = #nil | #list a

def some_of (xs: []i32) : []i32 = filter (> 0) xs

entry main (b: bool) (xs: []i32) : list ([]i32) =
  if b
  then #nil
  else #list (some_of xs)
