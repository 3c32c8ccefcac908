-- Local alignment of two sequences (Smith and Waterman's), one diagonal after the other.
-- ==
-- entry: alignment
-- script input { make_alignment 40i64 1i64 } auto output

-- ==
-- entry: alignment
-- input { [1u8, 2u8, 3u8, 0u8] [0u8, 1u8, 2u8, 3u8] } output { 6 }
-- input { [1u8, 2u8, 3u8, 1u8] [1u8, 2u8, 1u8] } output { 5 }
-- input { [1u8] [2u8] } output { 0 }

import "../random"

entry make_alignment (n: i64) (seed: i64) : ([n]u8, [n]u8) =
  let letters k = tabulate n (\i -> u8.u32 (random_u32 (seed + k) i % 4))
  in (letters 0, letters 1)

-- | The best score: 2 for a match, -1 for a difference or a gap.
entry alignment [n] [m] (a: [n]u8) (b: [m]u8) : i32 =
  let none = replicate (n + 1) 0i32
  let (_, _, best) =
    loop (before, last, best) = (none, none, none) for d in 2..<n + m + 1 do
      let cell i =
        let j = d - i
        in if i < 1 || j < 1 || j > m
           then 0
           else let same = if a[i - 1] == b[j - 1] then 2 else -1
                in i32.max 0 (i32.max (before[i - 1] + same) (i32.max last[i - 1] last[i] - 1))
      let now = tabulate (n + 1) cell
      in (last, now, map2 i32.max best now)
  in i32.maximum best
