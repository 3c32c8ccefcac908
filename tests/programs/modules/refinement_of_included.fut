-- What an included module type takes from the one around it is refined with that.
-- ==
-- entry: main
-- input { 5u8 7u8 }
-- output { 35 true }

module type keyed = {
  type ctx
  type key
  val hash : ctx -> key -> i32
}

module type ordered = {
  type ctx
  type key
  val less : (ctx, key) -> (ctx, key) -> bool
}

module type both = {
  type ctx
  type key
  include keyed with ctx = ctx with key = key
  include ordered with ctx = ctx with key = key
}

module of_number (P: {type t val value : t -> i32}): both with ctx = i32 with key = P.t = {
  type ctx = i32
  type key = P.t
  def hash (c: ctx) (k: key) = P.value k * c
  def less (c: ctx, a: key) (d: ctx, b: key) = P.value a * c < P.value b * d
}

module of_u8 : both with ctx = i32 with key = u8 = of_number {
  type t = u8
  def value = i32.u8
}

entry main (a: u8) (b: u8) = (of_u8.hash 7 a, of_u8.less (7, a) (7, b))
