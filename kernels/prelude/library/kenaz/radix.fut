-- Stable sorts by keys that are unsigned integers: one bit after the other, from the lowest on. Kenaz
-- has an operation for what these functions compute, and uses that instead.

-- Elements with bit 0 before those with bit 1, for each bit. Both keep their order.
local def by_bits [n] 't (bits: i32) (bit: i32 -> t -> bool) (xs: [n]t) : [n]t =
  loop xs for i < bits do
    let (zeros, ones) = partition (\x -> !(bit i x)) xs
    in zeros ++ ones :> [n]t

-- | Keys in ascending order.
def keys_u8 [n] (keys: [n]u8) : [n]u8 =
  by_bits 8 (\i key -> (key >> u8.i32 i) & 1 == 1) keys

-- | Values in ascending order of their keys.
def by_u8 [n] 't (keys: [n]u8) (xs: [n]t) : [n]t =
  map (.1) (by_bits 8 (\i (key, _) -> (key >> u8.i32 i) & 1 == 1) (zip keys xs))

-- | Keys in ascending order.
def keys_u16 [n] (keys: [n]u16) : [n]u16 =
  by_bits 16 (\i key -> (key >> u16.i32 i) & 1 == 1) keys

-- | Values in ascending order of their keys.
def by_u16 [n] 't (keys: [n]u16) (xs: [n]t) : [n]t =
  map (.1) (by_bits 16 (\i (key, _) -> (key >> u16.i32 i) & 1 == 1) (zip keys xs))

-- | Keys in ascending order.
def keys_u32 [n] (keys: [n]u32) : [n]u32 =
  by_bits 32 (\i key -> (key >> u32.i32 i) & 1 == 1) keys

-- | Values in ascending order of their keys.
def by_u32 [n] 't (keys: [n]u32) (xs: [n]t) : [n]t =
  map (.1) (by_bits 32 (\i (key, _) -> (key >> u32.i32 i) & 1 == 1) (zip keys xs))

-- | Keys in ascending order.
def keys_u64 [n] (keys: [n]u64) : [n]u64 =
  by_bits 64 (\i key -> (key >> u64.i32 i) & 1 == 1) keys

-- | Values in ascending order of their keys.
def by_u64 [n] 't (keys: [n]u64) (xs: [n]t) : [n]t =
  map (.1) (by_bits 64 (\i (key, _) -> (key >> u64.i32 i) & 1 == 1) (zip keys xs))
