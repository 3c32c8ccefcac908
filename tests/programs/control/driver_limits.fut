-- What Mesa's llvmpipe gets wrong when code is shaped unluckily, silently: conditions that are
-- nested more than 80 deep (each check that left its function was a level, each `else if` another),
-- and a division by a loop's counter plus one.

-- Checks, one after the other.
-- ==
-- entry: hundred_checks
-- input { [0i64, 1, 5] } output { [4950i64, 5050i64, 5450i64] }
-- input { [0i64, 6] } error: Index \[105\] out of bounds for array of shape \[105\].
entry hundred_checks (is: []i64): []i64 =
  let xs = iota 105
  in map (\i -> xs[i + 0] + xs[i + 1] + xs[i + 2] + xs[i + 3] + xs[i + 4] + xs[i + 5] + xs[i + 6] + xs[i + 7] + xs[i + 8] + xs[i + 9] + xs[i + 10] + xs[i + 11] + xs[i + 12] + xs[i + 13] + xs[i + 14] + xs[i + 15] + xs[i + 16] + xs[i + 17] + xs[i + 18] + xs[i + 19] + xs[i + 20] + xs[i + 21] + xs[i + 22] + xs[i + 23] + xs[i + 24] + xs[i + 25] + xs[i + 26] + xs[i + 27] + xs[i + 28] + xs[i + 29] + xs[i + 30] + xs[i + 31] + xs[i + 32] + xs[i + 33] + xs[i + 34] + xs[i + 35] + xs[i + 36] + xs[i + 37] + xs[i + 38] + xs[i + 39] + xs[i + 40] + xs[i + 41] + xs[i + 42] + xs[i + 43] + xs[i + 44] + xs[i + 45] + xs[i + 46] + xs[i + 47] + xs[i + 48] + xs[i + 49] + xs[i + 50] + xs[i + 51] + xs[i + 52] + xs[i + 53] + xs[i + 54] + xs[i + 55] + xs[i + 56] + xs[i + 57] + xs[i + 58] + xs[i + 59] + xs[i + 60] + xs[i + 61] + xs[i + 62] + xs[i + 63] + xs[i + 64] + xs[i + 65] + xs[i + 66] + xs[i + 67] + xs[i + 68] + xs[i + 69] + xs[i + 70] + xs[i + 71] + xs[i + 72] + xs[i + 73] + xs[i + 74] + xs[i + 75] + xs[i + 76] + xs[i + 77] + xs[i + 78] + xs[i + 79] + xs[i + 80] + xs[i + 81] + xs[i + 82] + xs[i + 83] + xs[i + 84] + xs[i + 85] + xs[i + 86] + xs[i + 87] + xs[i + 88] + xs[i + 89] + xs[i + 90] + xs[i + 91] + xs[i + 92] + xs[i + 93] + xs[i + 94] + xs[i + 95] + xs[i + 96] + xs[i + 97] + xs[i + 98] + xs[i + 99]) is

-- A chain of 120 branches.
-- ==
-- entry: chain
-- input { [1i64, 2, 79, 80, 118, 119, 120, 0] }
-- output { [3i64, 6, 43, 46, 63, 66, 7, 7] }
entry chain (is: []i64): []i64 =
  map (\i -> if i == 1 then 3 else if i == 2 then 6 else if i == 3 then 9 else if i == 4 then 12 else if i == 5 then 15 else if i == 6 then 18 else if i == 7 then 21 else if i == 8 then 24 else if i == 9 then 27 else if i == 10 then 30 else if i == 11 then 33 else if i == 12 then 36 else if i == 13 then 39 else if i == 14 then 42 else if i == 15 then 45 else if i == 16 then 48 else if i == 17 then 51 else if i == 18 then 54 else if i == 19 then 57 else if i == 20 then 60 else if i == 21 then 63 else if i == 22 then 66 else if i == 23 then 69 else if i == 24 then 72 else if i == 25 then 75 else if i == 26 then 78 else if i == 27 then 81 else if i == 28 then 84 else if i == 29 then 87 else if i == 30 then 90 else if i == 31 then 93 else if i == 32 then 96 else if i == 33 then 2 else if i == 34 then 5 else if i == 35 then 8 else if i == 36 then 11 else if i == 37 then 14 else if i == 38 then 17 else if i == 39 then 20 else if i == 40 then 23 else if i == 41 then 26 else if i == 42 then 29 else if i == 43 then 32 else if i == 44 then 35 else if i == 45 then 38 else if i == 46 then 41 else if i == 47 then 44 else if i == 48 then 47 else if i == 49 then 50 else if i == 50 then 53 else if i == 51 then 56 else if i == 52 then 59 else if i == 53 then 62 else if i == 54 then 65 else if i == 55 then 68 else if i == 56 then 71 else if i == 57 then 74 else if i == 58 then 77 else if i == 59 then 80 else if i == 60 then 83 else if i == 61 then 86 else if i == 62 then 89 else if i == 63 then 92 else if i == 64 then 95 else if i == 65 then 1 else if i == 66 then 4 else if i == 67 then 7 else if i == 68 then 10 else if i == 69 then 13 else if i == 70 then 16 else if i == 71 then 19 else if i == 72 then 22 else if i == 73 then 25 else if i == 74 then 28 else if i == 75 then 31 else if i == 76 then 34 else if i == 77 then 37 else if i == 78 then 40 else if i == 79 then 43 else if i == 80 then 46 else if i == 81 then 49 else if i == 82 then 52 else if i == 83 then 55 else if i == 84 then 58 else if i == 85 then 61 else if i == 86 then 64 else if i == 87 then 67 else if i == 88 then 70 else if i == 89 then 73 else if i == 90 then 76 else if i == 91 then 79 else if i == 92 then 82 else if i == 93 then 85 else if i == 94 then 88 else if i == 95 then 91 else if i == 96 then 94 else if i == 97 then 0 else if i == 98 then 3 else if i == 99 then 6 else if i == 100 then 9 else if i == 101 then 12 else if i == 102 then 15 else if i == 103 then 18 else if i == 104 then 21 else if i == 105 then 24 else if i == 106 then 27 else if i == 107 then 30 else if i == 108 then 33 else if i == 109 then 36 else if i == 110 then 39 else if i == 111 then 42 else if i == 112 then 45 else if i == 113 then 48 else if i == 114 then 51 else if i == 115 then 54 else if i == 116 then 57 else if i == 117 then 60 else if i == 118 then 63 else if i == 119 then 66 else 7) is

-- The same with a branch that can fail, loads and loops; what is not taken is not run.
-- ==
-- entry: chain_of_work
-- input { [0i64, 1, 3, 17, 60, 99, 100, 101] [5i64, 6, 7] }
-- output { [0i64, 2, 3, 12, 60, 198, 5, 3] }
-- input { [17i64, 18] [1i64] } error: Index \[2\] out of bounds for array of shape \[1\].
entry chain_of_work (is: []i64) (xs: []i64): []i64 =
  let ys = iota 199
  in map (\i -> if i == 0 then ys[i + 0] else if i == 1 then ys[i + 1] else if i == 2 then ys[i + 2] else if i == 3 then (loop s = 0 for j < i do s + 1) else if i == 4 then ys[i + 4] else if i == 5 then ys[i + 5] else if i == 6 then ys[i + 6] else if i == 7 then ys[i + 7] else if i == 8 then ys[i + 8] else if i == 9 then ys[i + 9] else if i == 10 then ys[i + 10] else if i == 11 then ys[i + 11] else if i == 12 then ys[i + 12] else if i == 13 then ys[i + 13] else if i == 14 then ys[i + 14] else if i == 15 then ys[i + 15] else if i == 16 then ys[i + 16] else if i == 17 then xs[0] + xs[2] else if i == 18 then ys[i + 18] else if i == 19 then ys[i + 19] else if i == 20 then ys[i + 20] else if i == 21 then ys[i + 21] else if i == 22 then ys[i + 22] else if i == 23 then ys[i + 23] else if i == 24 then ys[i + 24] else if i == 25 then ys[i + 25] else if i == 26 then ys[i + 26] else if i == 27 then ys[i + 27] else if i == 28 then ys[i + 28] else if i == 29 then ys[i + 29] else if i == 30 then ys[i + 30] else if i == 31 then ys[i + 31] else if i == 32 then ys[i + 32] else if i == 33 then ys[i + 33] else if i == 34 then ys[i + 34] else if i == 35 then ys[i + 35] else if i == 36 then ys[i + 36] else if i == 37 then ys[i + 37] else if i == 38 then ys[i + 38] else if i == 39 then ys[i + 39] else if i == 40 then ys[i + 40] else if i == 41 then ys[i + 41] else if i == 42 then ys[i + 42] else if i == 43 then ys[i + 43] else if i == 44 then ys[i + 44] else if i == 45 then ys[i + 45] else if i == 46 then ys[i + 46] else if i == 47 then ys[i + 47] else if i == 48 then ys[i + 48] else if i == 49 then ys[i + 49] else if i == 50 then ys[i + 50] else if i == 51 then ys[i + 51] else if i == 52 then ys[i + 52] else if i == 53 then ys[i + 53] else if i == 54 then ys[i + 54] else if i == 55 then ys[i + 55] else if i == 56 then ys[i + 56] else if i == 57 then ys[i + 57] else if i == 58 then ys[i + 58] else if i == 59 then ys[i + 59] else if i == 60 then (loop s = 0 for j < i do s + 1) else if i == 61 then ys[i + 61] else if i == 62 then ys[i + 62] else if i == 63 then ys[i + 63] else if i == 64 then ys[i + 64] else if i == 65 then ys[i + 65] else if i == 66 then ys[i + 66] else if i == 67 then ys[i + 67] else if i == 68 then ys[i + 68] else if i == 69 then ys[i + 69] else if i == 70 then ys[i + 70] else if i == 71 then ys[i + 71] else if i == 72 then ys[i + 72] else if i == 73 then ys[i + 73] else if i == 74 then ys[i + 74] else if i == 75 then ys[i + 75] else if i == 76 then ys[i + 76] else if i == 77 then ys[i + 77] else if i == 78 then ys[i + 78] else if i == 79 then ys[i + 79] else if i == 80 then ys[i + 80] else if i == 81 then ys[i + 81] else if i == 82 then ys[i + 82] else if i == 83 then ys[i + 83] else if i == 84 then ys[i + 84] else if i == 85 then ys[i + 85] else if i == 86 then ys[i + 86] else if i == 87 then ys[i + 87] else if i == 88 then ys[i + 88] else if i == 89 then ys[i + 89] else if i == 90 then ys[i + 90] else if i == 91 then ys[i + 91] else if i == 92 then ys[i + 92] else if i == 93 then ys[i + 93] else if i == 94 then ys[i + 94] else if i == 95 then ys[i + 95] else if i == 96 then ys[i + 96] else if i == 97 then ys[i + 97] else if i == 98 then ys[i + 98] else if i == 99 then ys[i + 99]
       else if xs[i % 100] == 5 then xs[0] else length xs) is

-- ==
-- entry: table
-- input { 4i64 } output { [[0i64, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 1, 1, 0]] }
entry table (n: i64): [n][n]i64 = tabulate_2d n n (\i j -> i / (j + 1))

-- ==
-- entry: divisors
-- input { 8i64 } output { [0i64, 1, 2, 2, 3, 2, 4, 2] }
entry divisors (n: i64): [n]i64 =
  map (\i -> loop c = 0 for k < i do c + i64.bool (i % (k + 1) == 0)) (iota n)

-- ==
-- entry: binomials
-- input { 6i64 } output { [1i64, 6, 15, 20, 15, 6] }
entry binomials (n: i64): [n]i64 =
  map (\r -> loop c = 1 for k < r do c * (n - k) / (k + 1)) (iota n)

-- ==
-- entry: constant_turns
-- input { 6i64 } output { [0i64, 1, 3, 5, 8, 9] }
entry constant_turns (n: i64): [n]i64 =
  map (\r -> loop c = 0 for k < 4i64 do c + r / (k + 1)) (iota n)

-- ==
-- entry: asserted
-- input { 4i64 } output { [0i64, 1, 2, 3] }
-- input { 9i64 } error: Assertion is false: \(k \+ 1 != 6\)
entry asserted (n: i64): [n]i64 =
  map (\r -> loop c = 0 for k < r do assert (k + 1 != 6) (c + 1)) (iota n)

-- ==
-- entry: small_types
-- input { [7u8, 0, 200] } output { [15u8, 0, 181] }
entry small_types (xs: []u8): []u8 =
  map (\x -> loop c = 0 for k < 6u8 do c + x / (k + 1) %% (k + 1 + 60)) xs

-- ==
-- entry: filtered_lengths
-- input { [1i64, 6, 12, 7] } output { [1i64, 4, 6, 2] }
entry filtered_lengths (xs: []i64): []i64 =
  map (\x -> length (filter (\d -> x % d == 0) (map (+ 1) (iota x)))) xs
