-- String matching: each letter is a function from states to states; their compositions are scanned.
-- ==
-- entry: by_scan by_chunks
-- input { [0u8, 1u8, 0u8, 2u8, 0u8, 1u8, 0u8] [0u8, 1u8, 0u8, 2u8, 0u8, 1u8, 0u8, 2u8, 0u8, 1u8, 0u8, 1u8] }
-- output { [6i64, 10i64] }

-- ==
-- entry: check_automaton
-- input { 100i64 1i64 } output { true }
-- input { 5000i64 2i64 } output { true }

import "../random"

type states = [8]u8

def identity : states = map u8.i64 (iota 8)

def compose (f: states) (g: states) : states = map (\s -> g[i64.u8 s]) f

-- | The state is how much of the pattern ends here; there are four letters.
def automaton (pattern: [7]u8) : [4]states =
  let fits s c k =
    k == 0 || (pattern[k - 1] == c && all (\j -> pattern[j] == pattern[s + 1 - k + j]) (iota (k - 1)))
  let next c s = loop k = i64.min 7 (s + 1) while !(fits s c k) do k - 1
  in tabulate 4 (\c -> map (\s -> u8.i64 (next (u8.i64 c) s)) (iota 8))

entry make_automaton (n: i64) (seed: i64) : ([7]u8, [n]u8) =
  ([0, 1, 0, 2, 0, 1, 0], tabulate n (\i -> u8.u32 (random_u32 seed i % 3)))

entry by_scan [n] (pattern: [7]u8) (text: [n]u8) : []i64 =
  let table = automaton pattern
  let after = scan compose identity (map (\c -> table[i64.u8 c]) text)
  in filter (\i -> after[i, 0] == 7) (iota n)

-- | The same with a function for each chunk, whose states are then walked through again.
entry by_chunks [n] (pattern: [7]u8) (text: [n]u8) : []i64 =
  let table = automaton pattern
  let size = 64
  let m = (n + size - 1) / size
  let whole k = loop f = copy identity for i in k * size..<i64.min n ((k + 1) * size) do compose f table[i64.u8 text[i]]
  let until = scan compose identity (tabulate m whole)
  let found k =
    let start = if k == 0 then 0 else until[k - 1, 0]
    in (loop (s, bits) = (start, 0u64) for j < i64.min size (n - k * size) do
          let s' = table[i64.u8 text[k * size + j], i64.u8 s]
          in (s', if s' == 7 then bits | (1 << u64.i64 j) else bits)).1
  let bits = tabulate m found
  in filter (\i -> (bits[i / size] >> u64.i64 (i % size)) & 1 == 1) (iota n)

-- | How many times the automaton is in each state, for each letter read there.
entry visits [n] (pattern: [7]u8) (text: [n]u8) : [4][8]i32 =
  let table = automaton pattern
  let after = scan compose identity (map (\c -> table[i64.u8 c]) text)
  let at i = (i64.u8 text[i], if i == 0 then 0 else i64.u8 after[i - 1, 0])
  in reduce_by_index_2d (replicate 4 (replicate 8 0)) (+) 0 (tabulate n at) (replicate n 1)

entry check_automaton (n: i64) (seed: i64) : bool =
  let (pattern, text) = make_automaton n seed
  let here i = i >= 6 && and (map2 (==) pattern (tabulate 7 (\j -> text[i - 6 + j])))
  let right = filter here (iota n)
  let same [k] (is: [k]i64) = k == length right && and (map2 (==) is (right :> [k]i64))
  in same (by_scan pattern text) && same (by_chunks pattern text)
     && i32.sum (flatten (visits pattern text)) == i32.i64 n
