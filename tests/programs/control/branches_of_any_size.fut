-- What one branch returns does not say how large the parameters are that another one returns.
-- ==
-- entry: or_nothing
-- input { true [1, 2] } output { [1, 2] }
-- input { false [1, 2] } output { empty([0]i32) }

entry or_nothing (b: bool) (xs: []i32) = if b then xs else []

-- ==
-- entry: start_again
-- input { [5, 6, 7] 0 } output { [5, 6, 7] }
-- input { [5, 6, 7] 1 } output { [1] }

entry start_again (xs: []i32) (k: i32) =
  match k
  case 0 -> xs
  case _ -> [k]

-- ==
-- entry: grow_or_keep
-- input { [5, 6] 3 } output { [5, 6, 0, 2] }

entry grow_or_keep (xs: []i32) (n: i32) =
  loop ys = xs for i < n do if i % 2 == 0 then ys ++ [i] else ys
