-- Putting arrays together.
-- ==
-- entry: flat
-- input { [1, 2] [3] }
-- output { [1, 2, 3] [3, 1, 2, 3] }
-- input { empty([0]i32) [3] }
-- output { [3] [3, 3] }

-- ==
-- entry: rows
-- input { [[1, 2]] [[3, 4], [5, 6]] }
-- output { [[1, 2], [3, 4], [5, 6]] }

-- ==
-- entry: of_tuples
-- input { [1, 2] }
-- output { [1, 2, 2, 3] [2, 4, 3, 5] }

entry flat (xs: []i32) (ys: []i32) = (xs ++ ys, concat ys (xs ++ ys))
entry rows [m] (xss: [][m]i32) (yss: [][m]i32) = xss ++ yss

entry of_tuples [n] (xs: [n]i32) =
  unzip (zip xs (map (* 2) xs) ++ map (\x -> (x + 1, x + 1 + x)) xs)
