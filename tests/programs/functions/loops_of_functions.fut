-- Loops that apply functions of which only the loop says what they take.
-- ==
-- entry: grow
-- input { [1, 2] } output { [1, 2, 1, 2, 1, 2, 1, 2] }
-- ==
-- entry: shrink
-- input { [1, 5, 2, 7] } output { [5, 7] }
-- ==
-- entry: keep
-- input { [1, 5, 2, 7] 2i64 } output { [3, 7, 4, 9] 2i32 }
def rep g (xs: []i32) = loop a = xs for i < 2i32 do g a
def until (p: []i32 -> bool) (xs: []i32) = loop a = xs while p a do filter (> a[0]) a ++ [a[0]]
entry grow (xs: []i32) = rep (\a -> a ++ a) xs
def drop_small (g: []i32 -> []i32) (xs: []i32) = loop a = xs for i < 2i32 do g a
entry shrink (xs: []i32) = drop_small (filter (> 3)) xs
entry keep (xs: []i32) (n: i64) = (rep (map (+ 1)) xs, loop n = 0i32 for n < n do n + 1)
