-- The left operand needs the size of the right one, which is evaluated after it.
-- ==
-- error: Causality check: size "d" needed for type of a parameter

def counted [k] (f: [k]i32 -> i64) : [k]i32 -> i64 = \ys -> f ys + k

entry main (xs: []i32) = counted (\ys -> length ys) <| filter (> 0) xs
