-- A result that the module type calls unique, of a type that is abstract there.
-- ==
-- error: incompatible uniqueness

module type stack = {
  type stack [n]
  val make : (n: i64) -> stack [n]
  val clear [n] : *stack [n] -> *stack [n]
}

module arrays : stack = {
  type stack [n] = [n]i32
  def make (n: i64) : stack [n] = replicate n 0
  def clear [n] (s: *stack [n]) : stack [n] = s
}

entry main (n: i64) = length (replicate n (arrays.make n))
