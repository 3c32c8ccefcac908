-- Every element of a map works on an array of its own.
-- ==
-- entry: counts
-- input { [[0, 1, 1], [2, 2, 2]] }
-- output { [[1, 2, 0], [0, 0, 3]] }

-- ==
-- entry: reversed
-- input { [[1, 2, 3], [4, 5, 6]] }
-- output { [[3, 2, 1], [6, 5, 4]] }

entry counts [n] [m] (xss: [n][m]i32) =
  map (\xs -> loop bins = replicate 3 0 for x in xs do bins with [x] = bins[x] + 1i32) xss

entry reversed [n] [m] (xss: [n][m]i32) =
  map (\xs ->
         loop ys = copy xs
         for i < m / 2 do
           let a = ys[i]
           let b = ys[m - 1 - i]
           in ys with [i] = b with [m - 1 - i] = a)
      xss
