-- What neighbouring threads would read or store far from each other.

-- Elements of a reduction that read the same at all points of the outermost level, as direction
-- vectors of Sobol numbers are; two levels are the columns then.
-- ==
-- entry: bits
-- input { 50i64 9i64 3i64 30i64 } auto output
-- input { 700i64 9i64 3i64 30i64 } auto output
-- input { 3i64 2i64 1i64 30i64 } auto output

-- The outer two levels are the rows, as only they are on one side.
-- ==
-- entry: rows
-- input { 20i64 3i64 16i64 9i64 } auto output
-- input { 40i64 11i64 64i64 17i64 } auto output

-- Rows that threads make in loops, each out of what it has made before.
-- ==
-- entry: bridges
-- input { 3i64 5i64 20i64 } auto output
-- input { 400i64 3i64 37i64 } auto output
-- input { 1100i64 1i64 16i64 } auto output

-- Two such results, one of them of rows of rows, and one that is none.
-- ==
-- entry: several
-- input { 10i64 17i64 } auto output
-- input { 1100i64 17i64 } auto output

-- Columns, whose sums lie along them.
-- ==
-- entry: columns
-- input { 4i64 5i64 3i64 } auto output
-- input { 5500i64 17i64 3i64 } auto output

-- Sums of the parts of rows before each place, of rows that are short.
-- ==
-- entry: triangles
-- input { 7i64 3i64 } auto output
-- input { 40i64 8i64 } auto output
-- input { 5i64 20i64 } auto output

def weighted [k] (xs: [k]i32): i32 = i32.sum (map2 (\x i -> x * i32.i64 i) xs (indices xs))

entry bits (n: i64) (d: i64) (u: i64) (b: i64): i32 =
  let dirs = tabulate_3d d u b (\i j k -> i32.i64 (i * 7919 + j * 104729 + (k + 1) * 31))
  let numbers i =
    map (map (\row -> i32.sum (map2 (\v k -> if (i >> i32.i64 k) % 2 == 1 then v else 0) row (iota b))))
        dirs
  in weighted (flatten (map flatten (map (\i -> numbers (i32.i64 i)) (iota n))))

entry rows (n: i64) (m: i64) (c: i64) (q: i64): i32 =
  let xsss = tabulate_3d n m q (\i j k -> i32.i64 (i * 5 + j * 3 + k))
  let all =
    map (map (\xs -> map (\j -> i32.sum (map (\x -> x * (x + j)) xs)) (map i32.i64 (iota c)))) xsss
  in weighted (flatten (map flatten all))

entry bridges (n: i64) (m: i64) (q: i64): i32 =
  let bridge start =
    loop row = replicate q start for i in 1..<q do
      row with [i] = row[i / 2] * 3 + row[i - 1] + i32.i64 i
  let all = tabulate_2d n m (\i j -> bridge (i32.i64 (i * m + j)))
  in weighted (flatten (map flatten all))

entry several (n: i64) (q: i64): ([n][q]i32, [n][q][2]i32, [n]i32) =
  let point i =
    let (xs, yss) =
      loop (xs, yss) = (replicate q i, replicate q [i, i + 1]) for j in 1..<q do
        let (x, y) = (xs[j - 1] + yss[j / 2, 1], xs[j / 2] - yss[j - 1, 0])
        in (xs with [j] = x, yss with [j, 1] = y)
    in (xs, yss, i * i)
  in unzip3 (map point (map i32.i64 (iota n)))

entry columns (n: i64) (m: i64) (c: i64): i32 =
  let xsss = tabulate_3d n m c (\i j k -> i32.i64 ((i + j * k) % 5 * 2 + 1))
  let sums = map (scan (map2 (*)) (replicate c 0)) xsss
  let products = map (\xss -> transpose (map (scan (+) 0) (transpose xss))) sums
  in weighted (flatten (map flatten products))

entry triangles (n: i64) (m: i64): i32 =
  let xss = tabulate_2d n m (\i j -> i32.i64 (i * 3 + j))
  let all = map (\xs -> tabulate m (\j -> i32.sum (map2 (*) (take (j + 1) xs) (take (j + 1) xs)))) xss
  in weighted (flatten all)
