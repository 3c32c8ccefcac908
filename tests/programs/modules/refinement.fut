-- `with` makes a type of a module type known.
-- ==
-- entry: main
-- input { 4 }
-- output { 8 [4, 4] }

module type box = {
  type content
  type box 'a
  val wrap : content -> box content
  val unwrap 'a : box a -> a
}

module pairs : box with content = i32 with box 'a = [2]a = {
  type content = i32
  type box 'a = [2]a
  def wrap (x: i32) : [2]i32 = [x, x]
  def unwrap 'a (xs: [2]a) : a = xs[0]
}

entry main (x: i32) = (pairs.unwrap (pairs.wrap x) + x, pairs.wrap x)
