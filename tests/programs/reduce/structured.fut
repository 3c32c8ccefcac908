-- Reductions whose elements are tuples or records, in order.
-- ==
-- entry: min_and_max
-- input { [3, 1, 2] }
-- output { 1 3 }

-- ==
-- entry: argmax
-- input { [3, 9, 2, 9] }
-- output { 1i64 9 }

-- ==
-- entry: affine
-- input { [2, 3, 4] [1, 0, 5] }
-- output { 24 17 }

-- ==
-- entry: mean
-- input { [1.0f32, 2.0f32, 6.0f32] }
-- output { 3.0f32 }

entry min_and_max (xs: []i32) =
  reduce (\(a, b) (c, d) -> (i32.min a c, i32.max b d)) (i32.highest, i32.lowest)
         (map (\x -> (x, x)) xs)

entry argmax (xs: []i32) =
  let better (i, x) (j, y) = if y > x || (y == x && j < i) then (j, y) else (i, x)
  in reduce better (i64.highest, i32.lowest) (zip (indices xs) xs)

-- Composition of x -> a*x + b is associative but not commutative.
entry affine [n] (as: [n]i32) (bs: [n]i32) =
  let after (a1, b1) (a2, b2) = (a1 * a2, b1 * a2 + b2)
  in reduce after (1, 0) (zip as bs)

entry mean (xs: []f32) =
  let r = reduce (\p q -> {sum = p.sum + q.sum, count = p.count + q.count})
                 {sum = 0, count = 0}
                 (map (\x -> {sum = x, count = 1f32}) xs)
  in r.sum / r.count
