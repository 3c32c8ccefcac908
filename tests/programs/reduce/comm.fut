-- Reductions whose operator may be applied in any order, with every neutral element.
-- ==
-- entry: kinds
-- input { [1, 2, 4] }
-- output { 7 7 8 3 }

-- ==
-- entry: of_pairs
-- input { [1, 2, 3] }
-- output { 6 6 }

entry kinds (xs: []i32) =
  ( reduce_comm (+) 0 xs
  , reduce_comm (|) 0 xs
  , reduce_comm (*) 1 xs
  , reduce_comm i32.max 0 (map (\x -> x - 1) xs)
  )

entry of_pairs (xs: []i32) =
  reduce_comm (\(a, b) (c, d) -> (a + c, b * d)) (0, 1) (map (\x -> (x, x)) xs)
