-- The size of a parameter that is not written is not found by comparing branches: they may differ.
-- ==
-- error: Sizes "n" and ".*" do not match

def pick [n] (b: bool) (xs: [n]i32) (ys: []i32) : [n]i32 =
  if b then xs else ys

entry main (b: bool) (xs: []i32) = pick b xs xs
