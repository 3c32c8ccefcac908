-- Building tuples and taking them apart.
-- ==
-- entry: swap
-- input { 1 2.5 }
-- output { 2.5 1 }

-- ==
-- entry: nested
-- input { 1 2 3 }
-- output { 6 2 }

-- ==
-- entry: compare
-- input { 1 true }
-- output { [true, false] }

entry swap (x: i32) (y: f64) = (y, x)

entry nested (a: i32) (b: i32) (c: i32) =
  let t = (a, (b, c))
  let (x, (y, z)) = t
  in (x + y + z, t.1.0)

entry compare (x: i32) (b: bool) = [(x, b) == (1, true), (x, b) == (1, false)]
