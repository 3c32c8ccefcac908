-- Operator sections, and sections that take fields and elements.
-- ==
-- entry: operators
-- input { 10 }
-- output { [13, 7, -7, 5, 1024] }

-- ==
-- entry: fields
-- input { [1, 2] [3, 4] }
-- output { [3, 4] [1, 2] }

-- ==
-- entry: elements
-- input { [[1, 2], [3, 4]] }
-- output { [2, 4] }

entry operators (x: i32) = [(+ 3) x, (x -) 3, (3 -) x, (/ 2) x, (2 **) x]

entry fields [n] (xs: [n]i32) (ys: [n]i32) =
  let rs = map2 (\a b -> {a = a, pair = (b, a)}) xs ys
  in (map (.pair.0) rs, map (.a) rs)

entry elements (xss: [][]i32) = map (.[1]) xss
