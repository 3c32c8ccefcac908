-- Loops in threads whose arrays change places, all of them or in the end not.
-- ==
-- entry: distances
-- input { ["kitten ", "sunday ", "abcdefg"] ["sitting", "saturda", "gfedcba"] } output { [3i64, 5i64, 6i64] }

-- ==
-- entry: swapped turned anew until
-- input { 0i64 [1i64, 2i64] } auto output
-- input { 1i64 [1i64, 2i64] } auto output
-- input { 2i64 [1i64, 2i64] } auto output
-- input { 7i64 [1i64, 2i64] } auto output

-- ==
-- entry: swapped turned anew
-- input { 300i64 [1i64, 2i64] } auto output

-- | How many letters have to be put in, taken out or changed to make one text of the other: two rows
-- of the table are kept.
def distance [n] [m] (s: [n]u8) (t: [m]u8) : i64 =
  let (row, _) =
    loop (above, row): (*[m + 1]i64, *[m + 1]i64) = (iota (m + 1), replicate (m + 1) 0)
    for i < n do
      let row = row with [0] = i + 1
      let row = loop row for j < m do
        let change = above[j] + (if s[i] == t[j] then 0 else 1)
        in row with [j + 1] = i64.min change (1 + i64.min (copy row[j]) above[j + 1])
      in (row, above)
  in row[m]

entry distances [k] [n] [m] (ss: [k][n]u8) (ts: [k][m]u8) : [k]i64 = map2 distance ss ts

entry swapped [n] (m: i64) (xs: [n]i64) =
  map (\k -> let (a, b) = loop (a: *[200]i64, b: *[200]i64) = (replicate 200 k, replicate 200 1) for i < m do
               (b with [i % 200] = i + a[3], a)
             in (i64.sum a, b)) xs
  |> unzip

entry turned [n] (m: i64) (xs: [n]i64) =
  map (\k -> let (a, b, c) =
               loop (a: *[100]i64, b: *[100]i64, c: *[100]i64) =
                 (replicate 100 k, replicate 100 1, replicate 100 2)
               for i < m do (b with [i % 100] = i, c, a with [3] = i)
             in (i64.sum a, i64.sum b, c)) xs
  |> unzip3

entry anew [n] (m: i64) (xs: [n]i64) =
  map (\k -> let (a, b) = loop (a, b) = (replicate 100 k, replicate 100 1) for i < m do
               (map2 (\x y -> (x + y + i) % 1000) a b, a)
             in (a[0], b[1])) xs
  |> unzip

entry until [n] (m: i64) (xs: [n]i64) =
  map (\k -> let (a, b, _) =
               loop (a: *[80]i64, b: *[80]i64, i) = (replicate 80 k, replicate 80 1, 0) while i < m do
                 (b with [i % 80] = a[0] + i, if i % 3 == 2 then replicate 80 i else a, i + 1)
             in (a, b)) xs
  |> unzip
