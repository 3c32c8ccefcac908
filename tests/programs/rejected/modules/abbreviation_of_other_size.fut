-- That the module's `k` is 3 is nobody's business outside, and 3 is no `k`.
-- ==
-- error: row

type ints [n] = [n]i32

module m : { val k : i64 type row = ints [k] } = {
  def k = 3i64
  type row = ints [3]
}
