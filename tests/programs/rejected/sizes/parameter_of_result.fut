-- Callers could not make an argument for this function, for they do not know the size.
-- ==
-- error: Unknown size "k" in parameter of

def sum_of (b: bool) =
  let (k, _) = if b then (3, 0) else (4, 0)
  in \(xs: [k]i32) -> i32.sum xs
