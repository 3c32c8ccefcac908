-- What only --device interpreter finds: two threads write different values to one place.
-- ==
-- entry: scatter_twice
-- input { 3i64 } output { [0i32, 1i32, 2i32, 0i32] }
-- input { 100i64 } error: has a race: store(.|\n)*races.fut
entry scatter_twice (n: i64) =
  scatter (replicate 4 0i32) (map (% 4) (iota n)) (map i32.i64 (iota n))

-- The same value at one place is no race: whoever writes last, it is there.
-- ==
-- entry: mark
-- input { 100i64 } output { [true, true, false, true] }
entry mark (n: i64) =
  scatter (replicate 4 false) (map (\i -> if i % 4 == 2 then 0 else i % 4) (iota n)) (replicate n true)

-- Operators that combine what meets at one place are no race.
-- ==
-- entry: histogram
-- input { 1000i64 } output { [250i32, 250i32, 250i32, 250i32] }
entry histogram (n: i64) =
  reduce_by_index (replicate 4 0i32) (+) 0 (map (% 4) (iota n)) (replicate n 1)
