-- match on numbers, booleans, tuples and records.
-- ==
-- entry: name
-- input { 0 }
-- output { 100 }
-- input { 1 }
-- output { 101 }
-- input { -1 }
-- output { 99 }
-- input { 7 }
-- output { 14 }

-- ==
-- entry: pairs
-- input { 0 true }
-- output { 1 }
-- input { 5 true }
-- output { 5 }
-- input { 5 false }
-- output { -5 }

-- ==
-- entry: first_case_wins
-- input { 2.0 }
-- output { 1 }
-- input { 3.0 }
-- output { 2 }

entry name (x: i32) =
  match x
  case 0 -> 100
  case 1 -> 101
  case -1 -> 99
  case y -> 2 * y

entry pairs (x: i32) (b: bool) =
  match (x, b)
  case (0, _) -> 1
  case (n, true) -> n
  case (n, false) -> -n

entry first_case_wins (x: f64) =
  match {v = x, w = x + 1}
  case {v = 2.0, w = _} -> 1i32
  case {v = _, w = 4.0} -> 2
  case _ -> 3
