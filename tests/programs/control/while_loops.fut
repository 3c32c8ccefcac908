-- Loops with a condition.
-- ==
-- entry: gcd
-- input { 48 36 }
-- output { 12 }
-- input { 5 0 }
-- output { 5 }

-- ==
-- entry: bits
-- input { 37 }
-- output { 6 }
-- input { 0 }
-- output { 0 }

-- ==
-- entry: halve
-- input { [8, 6, 5] }
-- output { [1, 0, 0] }

entry gcd (a: i32) (b: i32) = (loop (x, y) = (a, b) while y != 0 do (y, x % y)).0

entry bits (n: i32) = (loop (x, k) = (n, 0i32) while x > 0 do (x >> 1, k + 1)).1

entry halve [n] (xs: [n]i32) =
  loop ys = xs while any (> 1) ys do map (/ 2) ys
