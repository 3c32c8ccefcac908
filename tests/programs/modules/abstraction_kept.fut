-- The hidden type is not the type it was made of.
-- ==
-- error: hidden.make

module hidden : {type t val make : i32 -> t} = {
  type t = i32
  def make (x: i32) = x
}

entry main (x: i32) : i32 = hidden.make x + 1
