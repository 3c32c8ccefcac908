-- A lambda's result is unique only if its type says so, even if it is fresh.
-- ==
-- error: incompatible uniqueness

def fill (f: i32 -> *[]i32) : i32 =
  let xs = f 2
  let xs[0] = 1
  in xs[0]

entry main (n: i64) = fill (\x -> replicate n x)
