-- The iteration functions of the prelude.
-- ==
-- entry: powers
-- input { 5 }
-- output { 32 }
-- input { 0 }
-- output { 1 }

-- ==
-- entry: collatz
-- input { 6 }
-- output { 8 }
-- input { 1 }
-- output { 0 }

-- ==
-- entry: root
-- input { 1000 }
-- output { 31 }

entry powers (n: i32) = iterate n (* 2) 1i32

entry collatz (n: i32) =
  let step (x, k) = (if x % 2 == 0 then x / 2 else 3 * x + 1, k + 1i32)
  in (iterate_until (\(x, _) -> x == 1) step (n, 0)).1

entry root (n: i32) = iterate_while (\r -> (r + 1) * (r + 1) <= n) (+ 1) 0
