-- Arrays that are parts more than once of what is put together in turn.
-- ==
-- entry: first_and_last all first_of_inner
-- input { [1i64, 2i64] } auto output
-- input { [1i64, 2i64, 3i64] } auto output
-- input { empty([0]i64) } auto output

-- ==
-- entry: rows in_a_loop turned
-- input { [1i64, 2i64, 3i64, 4i64] } auto output
-- input { [5i64] } auto output

entry first_and_last (xs: []i64) : []i64 = let z = map (+ 1) xs in z ++ xs ++ z
entry all (xs: []i64) : []i64 = let z = map (* 3) xs in z ++ z ++ z
entry first_of_inner (xs: []i64) : []i64 = let z = map (+ 1) xs in (z ++ xs) ++ (xs ++ z)
entry rows [n] (xs: [n]i64) : [2][2][n]i64 = let z = map (+ 1) xs in [[z, xs], [xs, z]]
entry in_a_loop [n] (xs: [n]i64) : [][2][n]i64 =
  loop all = [] for i < 3 do let z = map (+ i) xs in all ++ [[z, xs], [z, z]]
entry turned (xs: []i64) : []i64 = let z = map (+ 1) xs in z ++ reverse z ++ z
