-- The same of a local function.
-- ==
-- error: incompatible uniqueness

def fill (f: i32 -> *[]i32) : i32 =
  let xs = f 2
  let xs[0] = 1
  in xs[0]

entry main (n: i64) =
  let of_ns (x: i32) = replicate n x
  in fill of_ns
