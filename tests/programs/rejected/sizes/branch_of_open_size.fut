-- Branches of different sizes say nothing of either: the size of xs stays open.
-- ==
-- error: is the size of a branch

def main [n] (xs: []i32) (ys: [n]i32) (b: bool) : [n]i32 =
  if b then xs else ys
