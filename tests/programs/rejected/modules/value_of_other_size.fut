-- The size in the module type is a value of the module.
-- ==
-- error: Sizes "n" and "2 \* n" do not match

module m : { val n : i64 val xs : [n]bool } = {
  def n = 4i64
  def xs = replicate (2 * n) false
}
