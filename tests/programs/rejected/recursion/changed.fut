-- It hands on functions unchanged.
-- ==
-- error: passed unchanged

def twice (f: i64 -> i64) (n: i64) : i64 = if n == 0 then f 1 else twice (\x -> f (f x)) (n - 1)

entry main = twice (+ 1) 3
