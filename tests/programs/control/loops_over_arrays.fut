-- Loops that visit the elements of an array, and loops whose state is an array or a record.
-- ==
-- entry: horner
-- input { [1, 2, 3] 10 }
-- output { 123 }
-- input { empty([0]i32) 10 }
-- output { 0 }

-- ==
-- entry: patterns
-- input { [1, 2, 3] [4, 5, 6] }
-- output { 32 }

-- ==
-- entry: state
-- input { [3, 1, 2] }
-- output { 3 1 6 }

-- ==
-- entry: growing
-- input { 3i64 }
-- output { [0i64, 0i64, 1i64, 0i64, 1i64, 2i64] }

-- ==
-- entry: rows
-- input { [[1, 2], [3, 4]] }
-- output { [4, 6] }

entry horner (cs: []i32) (x: i32) = loop acc = 0 for c in cs do acc * x + c

entry patterns [n] (xs: [n]i32) (ys: [n]i32) =
  loop acc = 0 for (x, y) in zip xs ys do acc + x * y

entry state (xs: []i32) =
  let s = loop s = {high = i32.lowest, low = i32.highest, sum = 0}
          for x in xs do
            {high = i32.max s.high x, low = i32.min s.low x, sum = s.sum + x}
  in (s.high, s.low, s.sum)

entry growing (n: i64) : []i64 = loop (acc: []i64) = [] for i < n do acc ++ iota (i + 1)

entry rows [n] [m] (xss: [n][m]i32) =
  loop acc = replicate m 0 for xs in xss do map2 (+) acc xs
