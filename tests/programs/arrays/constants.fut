-- Definitions without parameters are computed once and used everywhere.
-- ==
-- entry: looked_up
-- input { 3i64 }
-- output { 9i64 }

-- ==
-- entry: sized_by_constant
-- input { }
-- output { [5i64, 5i64, 5i64] }

-- ==
-- entry: whole
-- input { }
-- output { [0i64, 1i64, 4i64, 9i64, 16i64] }

def count : i64 = 5
def squares : [count]i64 = map (\i -> i * i) (iota count)
def three = 3i64

entry looked_up (i: i64) = squares[i]
entry sized_by_constant : [three]i64 = replicate three count
entry whole = copy squares
