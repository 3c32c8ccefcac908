-- A value of an abstract type need not have the sizes of its type's arguments.
-- ==
-- error: \[n\].*non-constructively

module box : { type box 'a 'b val make 'a 'b : a -> b -> box a b } = {
  type box 'a 'b = a
  def make x _ = x
}

entry main [n] [k] (_: box.box ([n]i8) ([k]i8)) = n + k
