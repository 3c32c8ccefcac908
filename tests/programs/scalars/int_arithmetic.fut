-- Integers wrap; `/` and `%` round towards minus infinity, `//` and `%%` towards zero.
-- ==
-- entry: basic
-- input { 7 3 }
-- output { [10, 4, 21, 2, 1, 2, 1] }
-- input { -7 3 }
-- output { [-4, -10, -21, -3, 2, -2, -1] }
-- input { 7 -3 }
-- output { [4, 10, -21, -3, -2, -2, 1] }
-- input { -7 -3 }
-- output { [-10, -4, 21, 2, -1, 2, -1] }

-- ==
-- entry: wraps
-- input { 2147483647 }
-- output { [-2147483648, -2, 1] }

-- ==
-- entry: power
-- input { 3 4 }
-- output { 81 }
-- input { -2 31 }
-- output { -2147483648 }
-- input { 7 0 }
-- output { 1 }
-- input { 3 21 }
-- output { 1870418611 }

entry basic (x: i32) (y: i32) = [x + y, x - y, x * y, x / y, x % y, x // y, x %% y]

entry wraps (x: i32) = [x + 1, x * 2, x * x]

entry power (x: i32) (y: i32) = x ** y
