-- Text to tokens: runs of letters, runs of digits, and single signs, each with a hash of its bytes.
-- ==
-- entry: tokens
-- script input { make_tokens 100i64 1i64 } auto output

-- ==
-- entry: check_tokens
-- input { 1000i64 1i64 } output { true }

-- ==
-- entry: tokens
-- input { "ab 12+c" }
-- output { [0, 3, 5, 6] [2, 2, 1, 1] [1u8, 2u8, 3u8, 1u8] [3198u32, 1662u32, 46u32, 102u32] }

import "../random"

-- | Words of about five letters, few numbers, signs between them.
entry make_tokens (n: i64) (seed: i64) : [n]u8 =
  tabulate n (\i ->
    let r = random_u32 seed i
    let pick = r % 16
    let which = u8.u32 ((r >> 8) % 26)
    in if pick < 3 then ' ' else if pick < 4 then ',' else if pick < 5 then '0' + which % 10 else 'a' + which)

def class (c: u8) : u8 =
  if (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' then 1
  else if c >= '0' && c <= '9' then 2
  else if c > ' ' then 3
  else 0

-- | Of every token: where it begins, how long it is, its class, and its hash.
entry tokens [n] (text: [n]u8) : ([]i32, []i32, []u8, []u32) =
  let classes = map class text
  let begins i = let c = classes[i] in c != 0 && (c == 3 || i == 0 || classes[i - 1] != c)
  let ends i = let c = classes[i] in c != 0 && (c == 3 || i == n - 1 || classes[i + 1] != c)
  let [count] (starts: [count]i64) = filter begins (iota n)
  let lasts = filter ends (iota n) :> [count]i64
  -- x -> 31 x + byte, composed; a token's first byte forgets what was before.
  let step i = if begins i then (0u32, u32.u8 text[i] + 3) else (31, u32.u8 text[i])
  let after (a, b) (c, d) = (a * c, b * c + d)
  let hashes = map (.1) (scan after (1, 0) (map step (iota n)))
  in ( map i32.i64 starts
     , map2 (\a b -> i32.i64 (b - a + 1)) starts lasts
     , map (\i -> classes[i]) starts
     , map (\i -> hashes[i]) lasts)

-- Tokens are in order, apart, and cover all that is not blank.
entry check_tokens (n: i64) (seed: i64) : bool =
  let text = make_tokens n seed
  let (starts, lengths, _, _) = tokens text
  let ends = map2 (+) starts lengths
  let full = i64.sum (map (\c -> i64.bool (class c != 0)) text)
  in i64.sum (map i64.i32 lengths) == full
     && all (\i -> ends[i] <= starts[i + 1]) (iota (length starts - 1))
