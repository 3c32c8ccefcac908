-- Conditions, loops and matches in the function that is mapped.
-- ==
-- entry: conditions
-- input { [-2, 0, 5] }
-- output { [2, 100, 5] }

-- ==
-- entry: loops
-- input { [1, 6, 7] }
-- output { [0, 8, 16] }

-- ==
-- entry: matches
-- input { [0, 1, 2, 1] }
-- output { [10, 11, 2, 11] }

-- ==
-- entry: gathers
-- input { [2i64, 0i64, 1i64] [7, 8, 9] }
-- output { [9, 7, 8] }

entry conditions (xs: []i32) = map (\x -> if x < 0 then -x else if x == 0 then 100 else x) xs

entry loops (xs: []i32) =
  map (\x ->
         (loop (x, k) = (x, 0i32) while x != 1 do
            (if x % 2 == 0 then x / 2 else 3 * x + 1, k + 1)).1)
      xs

entry matches (xs: []i32) = map (\x -> match x case 0 -> 10 case 1 -> 11 case y -> y) xs

entry gathers [n] (is: [n]i64) (xs: [n]i32) = map (\i -> xs[i]) is
