-- A hole is of any size, so the loop's result would be, too.
-- ==
-- error: Ambiguous size

def main (xs: []i32) =
  loop ys = xs for _i < 3i32 do ???
