-- Reductions that are the same for every element, or in every turn of a loop.
-- ==
-- entry: shares
-- input { [1f32, 2f32, 5f32] }
-- output { [0.125f32, 0.25f32, 0.625f32] }
-- input { empty([0]f32) }
-- output { empty([0]f32) }

-- ==
-- entry: above_mean
-- input { [1, 9, 2, 8, 3] }
-- output { [9, 8] }

-- ==
-- entry: rows
-- input { [[3, 1], [1, 2], [6, 0]] }
-- output { [[3, 4], [4, 5], [6, 6]] }
-- input { empty([2][0]i32) }
-- output { empty([2][0]i32) }

-- ==
-- entry: turns
-- input { [1, 2] 3 }
-- output { 9 }
-- input { [1, 2] 0 }
-- output { 0 }

-- ==
-- entry: fails_with_elements_only
-- input { empty([0]i32) [0] }
-- output { empty([0]i32) }
-- input { [1] [5, 2] }
-- output { [8] }
-- input { [1] [0] }
-- error: division by zero

entry shares (xs: []f32) = map (\x -> x / f32.sum xs) xs

entry above_mean (xs: []i32) = filter (\x -> x > i32.sum xs / i32.i64 (length xs)) xs

entry rows [n][m] (xss: [n][m]i32): [n][m]i32 =
  map (\xs -> if m > 0 && xs[0] % 3 == 0 then scan (+) 0 xs else map (\x -> x + i32.sum xs) xs) xss

entry turns (xs: []i32) (n: i32) = loop a = 0 for _i < n do a + i32.sum xs

entry fails_with_elements_only (xs: []i32) (ds: []i32) = map (\x -> x + i32.sum (map (10 /) ds)) xs
