-- A module type that hides that a function consumes.
-- ==
-- error: val head.*regarding consuming

module m : { val head [n] : [n]i32 -> i32 } = {
  def head [n] (xs: *[n]i32) : i32 = (xs with [0] = 1)[0]
}

entry main = m.head [1, 2]
