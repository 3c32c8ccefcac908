-- Counting loops.
-- ==
-- entry: factorial
-- input { 5 }
-- output { 120 }
-- input { 0 }
-- output { 1 }

-- ==
-- entry: fibonacci
-- input { 10 }
-- output { 55 }

-- ==
-- entry: nested
-- input { 4 }
-- output { 18 }

-- ==
-- entry: unsigned_bound
-- input { 200u8 }
-- output { 200i32 }

-- ==
-- entry: implicit_start
-- input { 3 4 }
-- output { 81 }

entry factorial (n: i32) = loop acc = 1 for i < n do acc * (i + 1)

entry fibonacci (n: i32) = (loop (a, b) = (0i32, 1) for _i < n do (b, a + b)).0

entry nested (n: i32) =
  loop total = 0
  for i < n do
    loop total for j < i do total + i + j

entry unsigned_bound (n: u8) : i32 = loop k = 0 for _i < n do k + 1

entry implicit_start (x: i32) (n: i32) =
  let acc = 1
  in loop acc for _i < n do acc * x
