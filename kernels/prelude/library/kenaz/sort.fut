-- Stable sorts by keys of any number type: sort_i32.sort xs, sort_f32.by (.1) pairs and so on. Of
-- floats -0 stands before 0, NaNs with a sign before all other numbers and those without behind them.

module radix = import "radix"

-- | Sorts by keys of one type. Elements of equal keys keep their order, also descending.
module type sorts = {
  type key

  -- | In ascending order.
  val sort [n] : [n]key -> [n]key

  -- | In descending order.
  val sort_desc [n] : [n]key -> [n]key

  -- | Elements in ascending order of their keys.
  val by [n] 't : (t -> key) -> [n]t -> [n]t

  -- | Elements in descending order of their keys.
  val by_desc [n] 't : (t -> key) -> [n]t -> [n]t

  -- | Where the keys stand in ascending order: the index of the least comes first.
  val order [n] : [n]key -> [n]i64

  -- | Where the keys stand in descending order.
  val order_desc [n] : [n]key -> [n]i64
}

-- Keys as words that have the same order, and sorts of those.
local module type words = {
  type key
  type word
  val word : key -> word
  val key : word -> key
  val opposite : word -> word
  val keys [n] : [n]word -> [n]word
  val by [n] 't : [n]word -> [n]t -> [n]t
}

local module mk_sorts (W: words) : sorts with key = W.key = {
  type key = W.key

  def down (x: key) = W.opposite (W.word x)

  def sort [n] (xs: [n]key) : [n]key = map W.key (W.keys (map W.word xs))

  def sort_desc [n] (xs: [n]key) : [n]key =
    map (\w -> W.key (W.opposite w)) (W.keys (map down xs))

  def by [n] 't (key: t -> key) (xs: [n]t) : [n]t = W.by (map (\x -> W.word (key x)) xs) xs

  def by_desc [n] 't (key: t -> key) (xs: [n]t) : [n]t = W.by (map (\x -> down (key x)) xs) xs

  def order [n] (xs: [n]key) : [n]i64 = W.by (map W.word xs) (iota n)

  def order_desc [n] (xs: [n]key) : [n]i64 = W.by (map down xs) (iota n)
}

module sort_u8 = mk_sorts {
  type key = u8
  type word = u8
  def word (x: key) : word = x
  def key (w: word) : key = w
  def opposite (w: word) : word = !w
  def keys = radix.keys_u8
  def by = radix.by_u8
}

module sort_u16 = mk_sorts {
  type key = u16
  type word = u16
  def word (x: key) : word = x
  def key (w: word) : key = w
  def opposite (w: word) : word = !w
  def keys = radix.keys_u16
  def by = radix.by_u16
}

module sort_u32 = mk_sorts {
  type key = u32
  type word = u32
  def word (x: key) : word = x
  def key (w: word) : key = w
  def opposite (w: word) : word = !w
  def keys = radix.keys_u32
  def by = radix.by_u32
}

module sort_u64 = mk_sorts {
  type key = u64
  type word = u64
  def word (x: key) : word = x
  def key (w: word) : key = w
  def opposite (w: word) : word = !w
  def keys = radix.keys_u64
  def by = radix.by_u64
}

module sort_i8 = mk_sorts {
  type key = i8
  type word = u8
  def word (x: key) : word = u8.i8 x ^ 0x80
  def key (w: word) : key = i8.u8 (w ^ 0x80)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u8
  def by = radix.by_u8
}

module sort_i16 = mk_sorts {
  type key = i16
  type word = u16
  def word (x: key) : word = u16.i16 x ^ 0x8000
  def key (w: word) : key = i16.u16 (w ^ 0x8000)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u16
  def by = radix.by_u16
}

module sort_i32 = mk_sorts {
  type key = i32
  type word = u32
  def word (x: key) : word = u32.i32 x ^ 0x80000000
  def key (w: word) : key = i32.u32 (w ^ 0x80000000)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u32
  def by = radix.by_u32
}

module sort_i64 = mk_sorts {
  type key = i64
  type word = u64
  def word (x: key) : word = u64.i64 x ^ 0x8000000000000000
  def key (w: word) : key = i64.u64 (w ^ 0x8000000000000000)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u64
  def by = radix.by_u64
}

module sort_f16 = mk_sorts {
  type key = f16
  type word = u16
  def word (x: key) : word = let b = f16.to_bits x in if b >= 0x8000 then !b else b ^ 0x8000
  def key (w: word) : key = f16.from_bits (if w >= 0x8000 then w ^ 0x8000 else !w)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u16
  def by = radix.by_u16
}

module sort_f32 = mk_sorts {
  type key = f32
  type word = u32
  def word (x: key) : word = let b = f32.to_bits x in if b >= 0x80000000 then !b else b ^ 0x80000000
  def key (w: word) : key = f32.from_bits (if w >= 0x80000000 then w ^ 0x80000000 else !w)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u32
  def by = radix.by_u32
}

module sort_f64 = mk_sorts {
  type key = f64
  type word = u64
  def word (x: key) : word = let b = f64.to_bits x in if b >= 0x8000000000000000 then !b else b ^ 0x8000000000000000
  def key (w: word) : key = f64.from_bits (if w >= 0x8000000000000000 then w ^ 0x8000000000000000 else !w)
  def opposite (w: word) : word = !w
  def keys = radix.keys_u64
  def by = radix.by_u64
}
