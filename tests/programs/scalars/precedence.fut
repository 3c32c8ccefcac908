-- How expressions group.
-- ==
-- entry: ints
-- input { 2 3 4 }
-- output { [14, 12, 18, -8, 1, 5] }

-- ==
-- entry: mixed
-- input { 6 3 2 }
-- output { [true, true, true] }

-- ==
-- entry: pipes
-- input { 5 }
-- output { [12, 12, 11] }

entry ints (a: i32) (b: i32) (c: i32) =
  [a + b * c, a + c << 1 & 14, (a + 1) * (b + 3), -a ** b, c - b - 0, a ^ b | c]

entry mixed (a: i32) (b: i32) (c: i32) =
  [a & b == c, a - b - 1 == c, a == 6 || b == 0 && c == 0]

entry pipes (x: i32) =
  let inc = (+ 1)
  let dbl = (* 2)
  in [x |> inc |> dbl, dbl <| inc <| x, (dbl >-> inc) x]
