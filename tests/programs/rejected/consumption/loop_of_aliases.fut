-- What a loop consumes in place may not be what another of its variables is, too.
-- ==
-- error: self-aliased

entry main (xs: *[]i32) =
  loop (a, b) = (xs, xs) for i < 3i32 do (a with [0] = i, b)
