-- An ascribed module hides how its types are made.
-- ==
-- entry: count
-- input { 5 }
-- output { 7 }

module type counter = {
  type t
  val start : i32 -> t
  val next : t -> t
  val value : t -> i32
}

module counting : counter = {
  type t = {at: i32}
  def start x : t = {at = x}
  def next (c: t) : t = {at = c.at + 1}
  def value (c: t) = c.at
}

entry count (x: i32) = counting.(start x |> next |> next |> value)
