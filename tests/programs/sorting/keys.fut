-- Loops of sorts by keys that are no digits of a word.
-- ==
-- entry: bits_left_out bit_taken_twice
-- input { [5u32, 2u32, 4000000007u32, 4u32, 70004u32, 1u32, 0u32] } auto output
-- input { [3u32, 2u32, 1u32] } auto output
-- input { [2u32, 1u32, 0u32] } auto output

import "kenaz/sort"

-- Keys that are not all bits of a word, though they have as many.
entry bits_left_out [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 3 do sort_u8.by (\x -> u8.u32 ((x >> u32.i32 (2 * i + 1)) & 3) << 1) xs
entry bit_taken_twice [n] (xs: [n]u32) : [n]u32 =
  loop xs for i < 16 do
    sort_u8.by (\x -> u8.u32 ((x >> u32.i32 (2 * i)) & 1) + (u8.u32 (x >> u32.i32 (2 * i)) & 1)) xs
