-- A size that is an expression is only the same as that expression.
-- ==
-- error: Sizes "n" and "if true then n else m" do not match

def pick (b: bool) (n: i64) (m: i64) : [if b then n else m]i64 = iota (if b then n else m)

entry main (n: i64) (m: i64) : i64 =
  let xs : [n]i64 = pick true n m
  in length xs
