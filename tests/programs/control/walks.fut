-- Loops of one thread whose ends depend on what they read. Were all that is read 0, none would end.
-- ==
-- entry: add
-- input { [1] }
-- output { 3 }
-- input { [2, 0] }
-- output { 4 }

-- ==
-- entry: length_of_list
-- input { [1i64, -1i64] }
-- output { 2i64 }
-- input { [3i64, -1i64, 1i64, 2i64] }
-- output { 4i64 }

-- ==
-- entry: search_tree
-- input { [7, 3, 9, 1, 5] }
-- output { [1i64, 3i64, -1i64, -1i64, -1i64] [2i64, 4i64, -1i64, -1i64, -1i64] }
-- input { [1] }
-- output { [-1i64] [-1i64] }

entry add (xs: []i32): i32 = loop p = 0 while p < 3 do p + xs[0]

entry length_of_list (next: []i64): i64 =
  (loop (p, count) = (0, 0) while p != -1 do (next[p], count + 1)).1

-- Left and right child of each key, inserted in order.
entry search_tree [n] (keys: [n]i32): ([n]i64, [n]i64) =
  loop (left, right) = (replicate n (-1), replicate n (-1))
  for i in 1..<n do
    let (at, smaller) =
      (loop (at, smaller, found) = (0, false, false) while !found do
         let smaller = keys[i] < keys[at]
         let child = if smaller then left[at] else right[at]
         in if child == -1 then (at, smaller, true) else (child, smaller, false)
      ) |> \(at, smaller, _) -> (at, smaller)
    in if smaller
       then (left with [at] = i, right)
       else (left, right with [at] = i)
