-- A module must have everything that its module type promises.
-- ==
-- error: "g"

module type both = {
  val f : i32 -> i32
  val g : i32 -> i32
}

module one : both = {def f (x: i32) = x}

entry main (x: i32) = one.f x
