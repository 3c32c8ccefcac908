-- What a map makes in one launch is updated, under another name, in the next.
-- ==
-- input { [true] } output { [[false]] }
-- input { [true, false, true, true] }
-- output { [[false, false, true, true], [false, false, false, false],
--           [false, false, true, true], [false, false, true, true]] }
-- input { empty([0]bool) } output { empty([0][0]bool) }

entry main [n] (xs: [n]bool) : [n][n]bool =
  map (\x -> let row = map (const x) (iota n)
             let mine = copy row
             in mine with [0:(n + 1) / 2] = replicate ((n + 1) / 2) false)
      xs
